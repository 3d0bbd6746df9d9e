"""Own process: the command line and the environment of ``python -m probes`` as a child of the screen."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import probes


def engine_argv(words: Iterable[str]) -> list[str]:
    """The command line of ``python -m probes`` with these words, run by this interpreter."""
    return [sys.executable, "-m", "probes", *words]


def engine_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment in which that command imports our `probes` and no other.

    Without it Python looks into the working directory first, and would run a package ``probes`` of any repository
    there (PYTHONSAFEPATH forbids that). A checkout that is not installed is found by PYTHONPATH.
    """
    root = Path(probes.__file__).parent.parent
    environment = {**inherited, "PYTHONSAFEPATH": "1"}
    if root.name not in ("site-packages", "dist-packages"):
        old = inherited.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([old] if old else [])])
    return environment

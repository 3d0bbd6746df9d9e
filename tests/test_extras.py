"""The extra for benchmarks brings what they import."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.test_boundaries import ROOT, imports

BROUGHT = {"numpy": "gguf", "rich": "textual", "sqlalchemy": "sqlmodel"}
"""What comes with another package that is named."""


def distributions(extra):
    """The distributions that an extra of inftop names, and those that the extras in it name in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named, waiting = set(), [*project["dependencies"], *project["optional-dependencies"][extra]]
    while waiting:
        one = waiting.pop()
        if one.startswith("inftop["):
            extras = re.findall(r"[\w-]+", one.partition("[")[2])
            waiting += [below for name in extras for below in project["optional-dependencies"][name]]
        else:
            named.add(plain(re.match(r"[\w.-]+", one)[0]))
    return named


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(folder):
    """The top-level modules that the files of a folder of tests import, and the tests that they import in turn."""
    seen, waiting, found = set(), sorted((ROOT / folder).glob("*.py")), set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imports(path):
            if name.startswith("tests."):
                below = ROOT.joinpath(*name.split(".")).with_suffix(".py")
                waiting += [below] if below.exists() else []
            else:
                found.add(name.partition(".")[0])
    return found - sys.stdlib_module_names - {"probes", "tui", "tests", "__future__"}


def test_the_extra_for_benchmarks_brings_what_they_import():
    known, brought = packages_distributions(), distributions("bench")
    wanted = {BROUGHT.get(name) or plain(known.get(name, [name])[0]): name for name in imported("tests/bench")}
    assert "httpx-sse" in wanted
    assert wanted.keys() <= brought, wanted.keys() - brought

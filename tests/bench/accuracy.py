"""How accurate inftop is by each way in which its sockets can be read: a selftest for each, the screen redrawing.

    python -m tests.bench.accuracy [--quick] [--ways "real time" kernel loop user]

`real time` is what a system that allows it does of itself, `kernel` one that does not; with `loop` there is no
io_uring, as in most containers and before Linux 6.0; with `user` there are no kernel stamps either, as on macOS.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from probes.cli.commands.selftest import lines
from probes.selftest.run import selftest
from tui.launch import measuring_screen

WAYS: Final = {
    "real time": {},
    "kernel": {"probes.sockets.linux": "os.sched_setscheduler = refuse"},
    "loop": {"probes.sockets.io_uring": "module.Uring.__init__ = refuse"},
    "user": {
        "probes.sockets.io_uring": "module.Uring.__init__ = refuse",
        "probes.sockets.receive_timestamps": "module._ask_for_stamps = lambda sock: False",
    },
}
"""What is done to the engine's modules when they have been loaded."""

WITHOUT: Final = """
import importlib.abc, importlib.machinery, os, sys

CHANGES = {changes!r}

def refuse(*_):
    raise PermissionError("not for this benchmark")

class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in CHANGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        def changed(module):
            load(module)
            exec(CHANGES[name], {{"module": module, "os": os, "refuse": refuse}})
        spec.loader.exec_module = changed
        return spec

sys.meta_path.insert(0, Without())
"""
"""Makes every Python process that finds it on its path go without something."""


def main() -> None:
    """Measure and print the certificates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    asked = parser.parse_args()

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    before = os.environ.get("PYTHONPATH")
    for way in asked.ways:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sitecustomize.py").write_text(WITHOUT.format(changes=WAYS[way]))
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, before]))
            found = selftest(measuring_screen, quick=asked.quick, narrate=say)
        print("\n".join([way, *lines(found), ""]), flush=True)


if __name__ == "__main__":
    main()

"""How accurate inftop is with the kernel's stamps, and how accurate without: two selftests, the screen redrawing.

    python -m tests.bench.accuracy [--quick]

The second one runs with `probes.receive_clock` told that there are no kernel stamps, as on macOS.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from probes.commands.selftest import lines
from probes.selftest.run import selftest
from tui.launch import measuring_screen

WITHOUT = """
import importlib.abc, importlib.machinery, sys

class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "probes.receive_clock":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        def changed(module):
            load(module)
            module._ask_for_stamps = lambda sock: False
        spec.loader.exec_module = changed
        return spec

sys.meta_path.insert(0, Without())
"""
"""Makes every Python process that finds it on its path go without kernel stamps."""


def main() -> None:
    """Measure and print both certificates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    for title, path in (("kernel clock", None), ("user clock", WITHOUT)):
        with tempfile.TemporaryDirectory() as folder:
            if path is not None:
                (Path(folder) / "sitecustomize.py").write_text(path)
                os.environ["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
            found = selftest(measuring_screen, quick=quick, narrate=say)
        print("\n".join([title, *lines(found), ""]), flush=True)


if __name__ == "__main__":
    main()

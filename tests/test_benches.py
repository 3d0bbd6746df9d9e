"""Benchmarks and the script that makes the pictures are rarely run: all of them can at least be imported."""

import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCHES = [f"tests.bench.{path.stem}" for path in sorted((ROOT / "tests/bench").glob("*.py"))]


@pytest.mark.parametrize("name", BENCHES)
def test_a_benchmark_can_be_imported(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"probes", "tui", "tests"}:
            raise
        pytest.skip(f"needs {error.name}")


def test_the_script_that_makes_the_pictures_can_be_imported():
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs/picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    assert all((ROOT / f"docs/{name}.svg").exists() for name in picture.PICTURES)

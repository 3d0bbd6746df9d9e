"""The recipes of CONTRIBUTING.md for a provider and a dialect, followed to the letter in a copy, with made-up ones."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MADE_UP = Path(__file__).with_name("made_up")
FILES = {
    "wire.py": "probes/wire/murmur.py",
    "simulated.py": "probes/simulator/dialects/murmur.py",
    "streams.py": "tests/wire/test_murmur.py",
}
"""Where the three files of the dialect go."""

COVERED = {
    "tests/config/endpoint/test_request.py",
    "tests/config/test_presets.py",
    "tests/config/test_providers_page.py",
    "tests/end_to_end/test_broken_replies.py",
    "tests/end_to_end/test_dialects.py",
    "tests/end_to_end/test_presets.py",
    "tests/end_to_end/test_speed_table.py",
    "tests/end_to_end/test_stalled_errors.py",
    "tests/wire/test_murmur.py",
    "tests/wire/test_properties.py",
    "tests/wire/test_properties_over_sockets.py",
}
"""Where a test must have been of the made-up provider or dialect by name."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository with the made-up provider's table and the made-up dialect's table and files."""
    unused = shutil.ignore_patterns("*.svg", ".*")  # compiled files are valid in the copy too
    copy = tmp_path_factory.mktemp("copy")
    for name in ("probes", "tui", "tests", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=unused)
    for name in ("pyproject.toml", "config.toml", "README.md"):
        shutil.copy(ROOT / name, copy)
    with (copy / "probes/config/presets.toml").open("a", encoding="utf-8") as presets:
        presets.write((MADE_UP / "presets.toml").read_text(encoding="utf-8"))
    for name, place in FILES.items():
        shutil.copy(MADE_UP / name, copy / place)
    write_page(copy)
    return copy


def run(copy, *arguments):
    """What a fresh Python in the copy prints, and whether it was content; no failure is tried again in it."""
    command = [sys.executable, *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr, done.returncode == 0


def write_page(copy):
    page, written = run(copy, "-m", "probes.config.providers_page")
    assert written, page
    (copy / "docs/providers.md").write_text(page, encoding="utf-8")


def test_a_provider_is_a_table_and_a_dialect_three_files_and_every_test_of_all_of_them_covers_both(copy):
    rooms = ["tests/config", "tests/end_to_end", "tests/simulator", "tests/wire"]
    for name in ("test_recipes.py", "test_adding_a_dialect.py"):  # they add the same themselves
        rooms += ["--ignore", f"tests/end_to_end/{name}"]
    said, passed = run(copy, "-m", "pytest", "-n", "0", "-v", "-k", "murmur or acme or presets or page", *rooms)
    if not passed:  # some are of tokens/s, which a machine that is busy just then bends
        again, passed = run(copy, "-m", "pytest", "-n", "0", "-v", "--last-failed", *rooms)
        assert passed, again
        said += again
    tested = re.findall(r"^(\S+?)::.*(?:murmur|acme).* PASSED", said, re.MULTILINE)
    assert {*tested, *re.findall(r"^(\S+?(?:murmur|page)\.py)::.* PASSED", said, re.MULTILINE)} >= COVERED


@pytest.mark.parametrize(
    ("missing", "asks", "told"),
    [
        (
            "tests/wire/test_murmur.py",
            "end_to_end/test_dialects.py",
            "add tests/wire/test_murmur.py with STREAMS and FACTS",
        ),
        (
            "probes/simulator/dialects/murmur.py",
            "end_to_end/test_dialects.py",
            "add probes/simulator/dialects/murmur.py",
        ),
        (
            "docs/providers.md",
            "config/test_providers_page.py",
            "python -m probes.config.providers_page > docs/providers.md",
        ),
    ],
)
def test_what_is_missing_is_said(copy, missing, asks, told):
    path = copy / missing
    there = path.read_bytes()
    path.unlink()
    if missing.startswith("docs"):
        shutil.copy(ROOT / missing, path)
    try:
        said, passed = run(copy, "-m", "pytest", "-n", "0", "-k", "half or page", f"tests/{asks}")
    finally:
        path.write_bytes(there)
    assert not passed
    assert told in said

"""Who may import whom: read from the sources, and seen in a fresh process."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from probes.config.presets import dialects

ROOT = Path(__file__).parent.parent

OF_PROBES = {
    "probes",
    "probes.checked_json",
    "probes.clock",
    "probes.config.load",
    "probes.config_error",
    "probes.cli",
    "probes.diagnosis.reachability",
    "probes.diagnosis.attribution",
    "probes.definitions",
    "probes.endpoint",
    "probes.cli.entry",
    "probes.exports",
    "probes.exports.export",
    "probes.exports.selection",
    "probes.feed.messages",
    "probes.keys.secret",
    "probes.stats.confidence",
    "probes.outcome",
    "probes.race.verdict",
    "probes.race.updates",
    "probes.race.price",
    "probes.race.progress",
    "probes.config.prompts",
    "probes.race.race",
    "probes.race.heat",
    "probes.race.request",
    "probes.selftest.rehearsal",
    "probes.rate_limits.headers",
    "probes.sample",
    "probes.certificate",
    "probes.stats.share_confidence",
    "probes.stats.median_ratio",
    "probes.signals",
    "probes.stats.quantiles",
    "probes.store.read.rollup_queries",
    "probes.store.read.latest",
    "probes.store.read.pages",
    "probes.stats.time_range",
    "probes.stats.sketch",
    "probes.stats.rollup",
    "probes.store.location",
    "probes.user_folders",
    "probes.store.problem",
    "probes.store.certificates",
    "probes.store.read.reader",
    "probes.store.races",
    "probes.store.row",
    "probes.text",
    "probes.config.table",
    "probes.durations",
}
"""What the screen may know of the engine: values, readers and definitions."""

OF_COMMANDS = OF_PROBES | {"probes.cli.app", "probes.cli.commands.selftest", "probes.cli.exit_codes"}
"""The command line of the screen extends the one without."""

HEAVY = {
    "sqlmodel",
    "sqlalchemy",
    "alembic",
    "pydantic",
    "httpx",
    "httpcore",
    "apscheduler",
    "keyring",
    "plotext",
    "psycopg",
}
"""What must not stand between a person and the first picture."""


def modules(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path, *, everywhere=True):
    """Every module a file imports, at its top or (``everywhere``) inside a function, as absolute names."""
    found = set()
    for node in ast.walk(parsed(path)) if everywhere else parsed(path).body:
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {
                node.module,
                *(f"{node.module}.{one.name}" for one in node.names if is_module(node.module, one.name)),
            }
    return found


def is_module(package, name):
    folder = ROOT.joinpath(*package.split("."))
    return (folder / f"{name}.py").exists() or (folder / name).is_dir()


def loaded(code):
    """The modules a fresh interpreter has loaded after this code."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_engine_knows_nothing_of_the_screen():
    for name, path in modules("probes"):
        tops = {one.partition(".")[0] for one in imports(path)}
        assert not tops & {"tui", "textual", "plotext"}, name


def test_the_screen_knows_only_values_readers_and_definitions():
    for name, path in modules("tui"):
        allowed = OF_COMMANDS if name == "tui.commands" else OF_PROBES
        used = {one for one in imports(path) if one.partition(".")[0] == "probes"}
        used.discard("probes.store")  # the package around a reader
        assert used <= allowed, name


def test_dialects_never_import_each_other():
    shared = {"probes.wire", "probes.wire.dialect"}
    names = {f"probes.wire.{name}" for name in dialects()}
    for name, path in modules("probes/wire"):
        assert not (imports(path) & names) - {name} - shared, name


def test_modules_import_each_other_in_no_circle():
    for package in ("probes", "tui"):
        found = dict(modules(package))
        tops = {name: imports(path, everywhere=False) & found.keys() for name, path in found.items()}
        packages = {name: {one for one in used if f"{one}." not in f"{name}."} for name, used in tops.items()}
        TopologicalSorter(packages).prepare()  # raises CycleError with the circle


def test_plotext_has_one_importer():
    assert [name for name, path in modules("tui") if "plotext" in {one.partition(".")[0] for one in imports(path)}] == [
        "tui.widgets.chart"
    ]


def test_nothing_heavy_is_loaded_for_the_first_picture():
    """And no parser, since the bare command has no options."""
    names = loaded(
        "import tui.app, tui.cli, tui.launch, tui.sources.child, tui.sources.attached, tui.state.load_history"
    )
    assert {name.partition(".")[0] for name in names} & (HEAVY | {"typer"}) == set()


def test_the_engine_loads_no_screen():
    assert not {name.partition(".")[0] for name in loaded("import probes.cli.app, probes.engine.engine")} & {
        "tui",
        "textual",
        "plotext",
    }

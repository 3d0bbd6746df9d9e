"""The command line of the screen: what it starts, what it does without a terminal, and one whole run in a real one."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import probes
from tui import cli, launch
from tui.add.flow import Added
from tui.commands import app
from tui.sources import own_process
from tui.state.view_options import ViewOptions

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
CONFIG = '[[endpoint]]\nname = "local"\nprovider = "llamacpp"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(f'[store]\nurl = "sqlite:///{tmp_path}/history.db"\n{CONFIG}')
    return path


@pytest.fixture
def become(monkeypatch):
    """What this process would have become."""
    calls = []

    def note(program, argv, environment):
        calls.append((program, argv, environment))
        raise SystemExit(0)

    monkeypatch.setattr("tui.launch.os.execve", note)
    return calls


@pytest.fixture
def shown(monkeypatch):
    """Dashboards that would have been shown."""
    calls = []
    monkeypatch.setattr("probes.cli.entry.at_terminal", lambda: True)
    monkeypatch.setattr(launch, "_run", lambda words, options: calls.append((words, options)))
    return calls


def run(*words):
    return CliRunner().invoke(app, words)


def test_without_a_terminal_the_dashboard_is_a_recording(config, become):
    assert run("--config", str(config)).exit_code == 0
    (program, argv, environment) = become[0]
    assert (program, argv[1:]) == (sys.executable, ["-m", "probes", "--config", str(config), "record"])
    assert environment["PYTHONSAFEPATH"] == "1"


def test_without_a_terminal_the_demo_is_a_recording_of_the_same_length(become):
    run("demo", "--for", "30s")
    run("demo")
    assert [argv[3:] for _, argv, _ in become] == [["record", "--demo", "--for", "30.0s"], ["record", "--demo"]]


def test_the_dashboard_knows_its_endpoints_and_its_store_before_the_engine_does(config, shown):
    assert run("--config", str(config), "--window", "24h", "--theme", "inftop-light").exit_code == 0
    ((words, options),) = shown
    assert words == ["--config", str(config), "run"]
    assert options.view.period.words == "24 h"
    assert [one.name for one in options.endpoints] == ["local"]
    assert options.store_url == f"sqlite:///{config.parent}/history.db"
    assert options.theme == "inftop-light"


def test_the_bare_commands_go_the_short_way(config, shown, monkeypatch):
    monkeypatch.setenv("INFTOP_CONFIG", str(config))
    for words in (["inftop"], ["inftop", "demo"]):
        monkeypatch.setattr(sys, "argv", words)
        cli.main()
    assert [words for words, _ in shown] == [["--config", str(config), "run"], ["run", "--demo"]]
    assert [options.view for _, options in shown] == [ViewOptions.of_window("1h"), ViewOptions.of_window("1m")]


def test_the_dashboard_with_plain_options_goes_the_short_way(config, shown, monkeypatch):
    monkeypatch.setattr("tui.commands.run", lambda: pytest.fail("the parser"))
    words = ["inftop", f"--config={config}", "--window", "24h", "--theme", "inftop-light", "--wall"]
    monkeypatch.setattr(sys, "argv", words)
    cli.main()
    ((engine, options),) = shown
    assert engine == ["--config", str(config), "run"]
    assert (options.view.period.words, options.theme, options.view.view) == ("24 h", "inftop-light", "wall")


def test_so_does_what_only_looks_at_a_store(tmp_path, shown, monkeypatch):
    monkeypatch.setattr("tui.commands.run", lambda: pytest.fail("the parser"))
    monkeypatch.setattr(launch, "_show", lambda source, options: shown.append(options.store_url))
    (tmp_path / "there.db").touch()
    monkeypatch.setattr(sys, "argv", ["inftop", "--attach", f"{tmp_path}/there.db"])
    cli.main()
    assert shown == [f"sqlite:///{tmp_path}/there.db"]


@pytest.mark.parametrize(
    "words", [["--window", "2h"], ["--window"], ["demo", "--window", "5m"], ["--attach", "no-such.db"]]
)
def test_a_line_that_is_not_plainly_right_is_the_parsers(words, shown, monkeypatch):
    parsed = []
    monkeypatch.setattr("tui.commands.run", lambda: parsed.append(words))
    monkeypatch.setattr(sys, "argv", ["inftop", *words])
    cli.main()
    assert (parsed, shown) == ([words], [])


@pytest.mark.parametrize("words", [[], ["--window", "1h"]])
def test_a_wrong_configuration_is_said_before_any_screen_with_exit_code_2(tmp_path, words):
    path = tmp_path / "config.toml"
    path.write_text("[prob]\n" + CONFIG)
    environment = {**os.environ, "INFTOP_CONFIG": str(path)}
    done = subprocess.run(
        [sys.executable, "-m", "tui", *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "prob" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("words", [("--window", "2h"), ("demo", "--window", "x"), ("demo", "--for", "soon")])
def test_a_wrong_option_is_said_with_exit_code_2(words):
    done = run(*words)
    assert done.exit_code == 2
    assert words[-2] in done.output


def test_every_command_is_there():
    listed = run("--help").output
    assert all(f"  {name} " in listed for name in ("demo", "record", "probe", "export", "keys", "check", "providers"))


def test_the_engine_is_found_in_a_checkout_and_in_an_installation(monkeypatch):
    monkeypatch.setattr(probes, "__file__", "/somewhere/site-packages/probes/__init__.py")
    assert own_process.engine_environment({"A": "1"}) == {"A": "1", "PYTHONSAFEPATH": "1"}
    monkeypatch.setattr(probes, "__file__", "/a/checkout/probes/__init__.py")
    assert own_process.engine_environment({"PYTHONPATH": "/x"})["PYTHONPATH"] == "/a/checkout:/x"


def test_a_strangers_package_in_the_working_directory_is_not_run(tmp_path):
    stranger = tmp_path / "probes"
    stranger.mkdir()
    for name in ("__init__", "__main__"):
        (stranger / f"{name}.py").write_text("print('stranger')")
    environment = own_process.engine_environment(os.environ)
    argv = own_process.engine_argv(["--version"])
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("inftop ")


def test_the_demo_runs_in_a_real_terminal_and_leaves_nothing_behind():
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 80, 160, 0, 0))  # rows of two lines, with an age
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    screen = subprocess.Popen(
        [sys.executable, "-m", "tui", "demo"], stdin=slave, stdout=slave, stderr=slave, env=environment,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        seen = read_until(master, b"recording", b"ago")
        assert b"simulated" in seen
        children = Path(f"/proc/{screen.pid}/task/{screen.pid}/children")
        engines = children.read_text().split() if children.exists() else []
        os.write(master, b"q")
        drain(master)
        assert screen.wait(60) == 0
        end = time.monotonic() + 60
        while left := [pid for pid in engines if Path(f"/proc/{pid}").exists()]:
            assert time.monotonic() < end, left
            time.sleep(0.02)
    finally:
        screen.kill()
        screen.wait()
        os.close(master)


def read_until(master, *needles):
    """What the terminal shows until all of these have been in it."""
    seen, end = b"", time.monotonic() + 60
    while not all(needle in seen for needle in needles):
        assert time.monotonic() < end, seen[-2000:]
        if select.select([master], [], [], 1)[0]:
            seen += os.read(master, 65_536)
    return seen


def drain(master):
    """Read until the terminal is closed."""
    try:
        while os.read(master, 65_536):
            pass
    except OSError:
        return  # Linux says so when the last process has closed it


def test_add_without_a_model_opens_its_page_at_a_terminal(monkeypatch, tmp_path):
    asked = []

    def page(config, provider, given):
        asked.append((config, provider, given))
        return Added((f"{provider}/m\x1b[31m",), tmp_path / "config.toml")

    monkeypatch.setattr("probes.cli.entry.at_terminal", lambda: True)
    monkeypatch.setattr(launch, "show_adding", page)
    assert run("add").exit_code == 0
    assert run("add", "groq").output == f"added groq/m to {tmp_path / 'config.toml'}\n"
    assert run("add", "localhost:8000").exit_code == 0
    assert run("--config", "c.toml", "add", "groq", "--theme", "inftop-light").exit_code == 0
    assert asked.pop(2) == (None, "localhost:8000", {})
    assert asked == [(None, "", {}), (None, "groq", {}), (Path("c.toml"), "groq", {"theme": "inftop-light"})]

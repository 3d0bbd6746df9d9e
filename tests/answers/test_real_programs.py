"""The programs that show a status line: tmux, bash and zsh show hostile names as text, and run nothing of them."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from probes.answers.formats import rendered
from tests.answers.made_up import HOSTILE, endpoint, status

DEADLINE_S = 60.0
"""For what a busy machine may take long over."""

FORMATS = (None, "tmux", "starship", "prompt", "{name} {state} {why}")

IN_BASH = (
    """PS1='$(cat line) '; show""",
    """PS1="$(cat line) "; show""",
    """PROMPT_COMMAND='PS1="$(cat line) "'; eval "$PROMPT_COMMAND"; show""",
    """eval "PS1=\\"$(cat line) \\""; show""",
    """eval "PS1='$(cat line) '"; show""",
)
"""How people put a command's text into bash's prompt, the last two in spite of every advice."""

IN_ZSH = (
    """setopt promptsubst; PS1='$(cat line) '; show""",
    """setopt promptsubst promptbang; PS1="$(cat line) "; show""",
    """PS1="$(cat line) "; show""",
    """setopt promptsubst; PS1='${:-$(cat line)} '; show""",
    """eval "PS1=\\"$(cat line) \\""; show""",
    """eval "PS1='$(cat line) '"; show""",
)


def needs(program: str):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {program}")


def hostile_texts(formats: tuple[str | None, ...]) -> list[str]:
    """What a prompt or a status line may get: each form of text, of each name that would make a file ``made``."""
    names = [name.replace("{file}", "made") for name in HOSTILE]
    found = [status(endpoint(name, "down", why=name), endpoint("well")) for name in names]
    found += [status(endpoint(name, "down", why=name)) for name in names]
    return [rendered(wanted, one).splitlines()[0] for one in found for wanted in formats]


def run_all(shell: list[str], script: str, ways: tuple[str, ...], folder: Path) -> None:
    """Run every way with every text, in one shell for each text."""
    for number, text in enumerate(hostile_texts(FORMATS)):
        home = folder / str(number)
        home.mkdir()
        (home / "line").write_text(f"{text}\n", encoding="utf-8")
        done = subprocess.run(
            [*shell, "\n".join([script, *ways])], cwd=home, capture_output=True, timeout=DEADLINE_S, check=False
        )
        assert [one.name for one in home.iterdir()] == ["line"], text
        assert done.stdout.decode().count(f"[{text} ]") == len(ways), (text, done)


@needs("bash")
@pytest.mark.slow
def test_bash_shows_text_and_runs_nothing(tmp_path):
    run_all(["bash", "--norc", "--noprofile", "-c"], """show() { printf '[%s]\\n' "${PS1@P}"; }""", IN_BASH, tmp_path)


@needs("zsh")
@pytest.mark.slow
def test_zsh_shows_text_and_runs_nothing(tmp_path):
    run_all(["zsh", "-f", "-c"], """show() { print -r "[${(%%)PS1}]"; }""", IN_ZSH, tmp_path)


@needs("tmux")
@pytest.mark.slow
def test_tmux_shows_text_and_runs_nothing(tmp_path):
    """One tmux shows every text in its status line, in the pane of another one that says what there is to see."""
    text = " ".join(hostile_texts(("tmux", "{name}")))
    (tmp_path / "line").write_text(f"{text} the end\n", encoding="utf-8")
    inner, outer = ([*["tmux", "-f", "/dev/null", "-S"], str(tmp_path / name)] for name in ("inner", "outer"))
    wide = ["-x", "5000", "-y", "5"]
    line = f"#(cat {tmp_path / 'line'})"
    try:
        tmux(tmp_path, [*inner, "new-session", "-d", *wide, "cat"])
        tmux(tmp_path, [*inner, "set", "-g", "status-interval", "1", ";", "set", "-g", "status-format[0]", line])
        tmux(tmp_path, [*outer, "new-session", "-d", *wide, f"TMUX= {' '.join(inner)} attach"])
        tmux(tmp_path, [*outer, "set", "-g", "status", "off"])
        end = time.monotonic() + DEADLINE_S
        while "the end" not in (shown := tmux(tmp_path, [*outer, "capture-pane", "-p"])):
            assert time.monotonic() < end, shown[-2000:]
            time.sleep(0.05)
    finally:
        for server in (inner, outer):
            subprocess.run([*server, "kill-server"], check=False, capture_output=True)
    ours = text.replace("#[fg=red]", "").replace("#[default]", "")
    assert ours in shown
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == ["line"]


def tmux(folder: Path, command: list[str]) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"} | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", timeout=DEADLINE_S, check=True, env=environment
    )
    return done.stdout

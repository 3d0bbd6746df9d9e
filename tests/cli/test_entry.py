"""How a command line ends whose standard streams cannot be written to."""

import io
import os
import sys

import pytest

from probes.cli.entry import run


def ended_with(monkeypatch, descriptor: int, command, name: str = "stdout"):
    """The exit code of a command, one of whose streams writes to a descriptor."""
    with open(descriptor, "w") as stream:
        monkeypatch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ending:
            run(command)
        return ending.value.code


def gone_pipe() -> int:
    """A descriptor to write to, whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def test_what_a_reader_no_longer_wants_ends_a_command_quietly(monkeypatch, capfd):
    assert ended_with(monkeypatch, gone_pipe(), lambda: print("text")) == 1
    assert capfd.readouterr().err == ""


def test_a_full_disk_is_said_once(monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    assert ended_with(monkeypatch, os.open("/dev/full", os.O_WRONLY), lambda: print("text")) == 1
    assert said.getvalue() == "No space left on device\n"


def test_a_code_of_the_commands_own_stays(monkeypatch):
    def fail():
        print("text")
        sys.exit(2)

    assert ended_with(monkeypatch, gone_pipe(), fail) == 2


def test_words_that_nobody_can_be_told_leave_the_code(monkeypatch):
    full = os.open("/dev/full", os.O_WRONLY)
    assert ended_with(monkeypatch, full, lambda: sys.exit("wrong"), "stderr") == 1
    full = os.open("/dev/full", os.O_WRONLY)
    assert ended_with(monkeypatch, full, lambda: print("note", file=sys.stderr, flush=True), "stderr") == 1


def test_a_message_is_said_and_is_no_success(capsys):
    with pytest.raises(SystemExit) as ending:
        run(lambda: sys.exit("stopped"))
    assert (ending.value.code, capsys.readouterr().err) == (1, "stopped\n")

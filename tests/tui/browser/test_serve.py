"""`inftop serve` on the command line: what it refuses, and what it prints."""

import importlib.resources
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from probes.cli.exit_codes import exit_code_of
from probes.extras import how_to_add
from tui.browser import page
from tui.browser.page import NoTerminal, page_files
from tui.browser.serve import address_of
from tui.commands import app


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.com", "127.0.0.2", ""])
def test_only_this_machine_is_served(host):
    with pytest.raises(ValueError, match="ssh -L"):
        address_of(host)
    assert CliRunner().invoke(app, ["serve", "--host", host]).exit_code == 2


def test_localhost_is_the_address_of_loopback():
    assert [address_of(one) for one in ("localhost", "127.0.0.1", "::1")] == ["127.0.0.1", "127.0.0.1", "::1"]


def test_a_store_that_is_not_there_is_said(tmp_path):
    done = CliRunner().invoke(app, ["serve", "--attach", str(tmp_path / "none.db")])
    assert "there is no store at" in str(done.exception)


def test_without_the_extra_it_says_how_to_install_it(monkeypatch):
    def missing(name):
        if name == "textual_serve":
            raise ModuleNotFoundError(name)
        return importlib.resources.files(name)

    monkeypatch.setattr(page, "files", missing)
    with pytest.raises(NoTerminal, match=re.escape(how_to_add("serve"))) as error:
        page_files()
    assert exit_code_of(error.value) == 1


@pytest.mark.slow
def test_it_prints_a_link_and_ends_at_a_signal(store):
    command = [sys.executable, "-m", "tui", "serve", "--attach", str(store), "--port", "0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        said = ""
        while "Ctrl+C" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.terminate()
        assert process.wait() == 0
    assert re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}\n", said)
    assert "view only" in said
    assert "ssh -L" in said

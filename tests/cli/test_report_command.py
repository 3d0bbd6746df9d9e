"""``inftop report`` on the command line."""

import time

import pytest
from typer.testing import CliRunner

from probes.cli.app import app
from probes.cli.exit_codes import ExitCode, exit_code_of
from probes.report.read import NothingRecorded
from tests.report.stores import two_days
from tests.store.stores import fill, url_of


@pytest.fixture
def run(tmp_path):
    """Run ``inftop report`` on a store of two endpoints, one of them configured."""
    config = tmp_path / "config.toml"
    endpoint = '[[endpoint]]\nname = "groq/a"\nprovider = "groq"\nmodel = "m"\n'
    config.write_text(f'[store]\nurl = "{url_of(tmp_path / "history.db")}"\n{endpoint}')
    for name in ("groq/a", "mine"):
        fill(tmp_path / "history.db", two_days(name, now=time.time_ns() // 1_000_000))
    return lambda *words: CliRunner().invoke(app, ["--config", str(config), "report", *map(str, words)])


def test_a_page_is_written_and_said(run, tmp_path):
    result = run("-o", tmp_path / "page.html")
    assert result.exit_code == ExitCode.OK
    assert "2 endpoints in" in result.stderr
    assert "mine" in (tmp_path / "page.html").read_text()


def test_a_page_for_others_on_standard_output(run):
    result = run("--redact", "-o", "-")
    assert result.stdout.startswith("<!doctype html>")
    assert "mine" not in result.stdout.replace("determine", "")


def test_a_folder_is_redacted_unless_it_is_to_be_full(run, tmp_path):
    assert run("--watch", tmp_path / "www", "--for", "0.1s").exit_code == ExitCode.OK
    assert ">mine<" not in (tmp_path / "www" / "index.html").read_text()
    assert run("--watch", tmp_path / "www", "--for", "0.1s", "--full").exit_code == ExitCode.OK
    assert ">mine<" in (tmp_path / "www" / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--full",), "--watch"),
        (("--watch", "www", "--json"), "--watch"),
        (("--watch", "www", "--full", "--redact"), "contradict"),
        (("--since", "soon"), "not a time"),
        (("--tz", "Middle/Earth"), "not a time zone"),
    ],
)
def test_what_does_not_go_together_is_refused(run, words, said):
    result = run(*words)
    assert result.exit_code == ExitCode.USAGE
    assert said in result.stderr


def test_nothing_recorded_has_a_code_of_its_own(run):
    assert isinstance(run("--since", "1s").exception, NothingRecorded)
    assert exit_code_of(NothingRecorded("nothing")) is ExitCode.NO_DATA

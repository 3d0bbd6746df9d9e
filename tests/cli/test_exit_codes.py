"""Which errors end a command with a line of text, and with which exit code."""

import subprocess
import sys
from importlib import import_module

import pytest

from probes.cli.exit_codes import CODES, ExitCode, exit_code_of, message_of
from probes.config_error import ConfigError, Problem


@pytest.mark.parametrize("name", CODES)
def test_every_name_is_that_of_an_error(name):
    module, _, error = name.rpartition(".")
    assert issubclass(getattr(import_module(module), error), Exception)


def test_an_error_has_the_code_of_the_nearest_class():
    assert exit_code_of(ConfigError((Problem("f", "", "x"),))) is ExitCode.USAGE
    assert exit_code_of(PermissionError(13, "no", "f")) is ExitCode.NOT_OK
    assert message_of(PermissionError(13, "no", "f")) == "f: no"
    assert exit_code_of(ValueError("a defect")) is None


def test_nothing_is_imported_to_tell():
    code = "import sys; from probes.cli.exit_codes import exit_code_of; exit_code_of(ValueError()); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "probes.cli.exit_codes" in loaded
    assert not {one for one in loaded if one.startswith(("probes.config", "probes.store", "sqlalchemy"))}

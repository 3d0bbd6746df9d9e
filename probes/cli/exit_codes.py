"""The exit codes of commands, and which errors end a command with one line of text instead of a traceback."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """Every exit code of inftop. Anything else is a defect."""

    OK = 0
    NOT_OK = 1  # not all is well: a probe was not ok, there is no such key, a result could not be written
    USAGE = 2  # a wrong configuration or command line; nothing was done
    STORE = 3  # the store cannot be used, or samples were not stored
    KEYRING = 4  # no keyring that answers
    INCONCLUSIVE = 5  # too little was measured to decide
    NO_DATA = 6  # what is known is too old to answer with, or nothing is known
    INTERRUPTED = 130  # Ctrl+C


CODES: Final[Mapping[str, ExitCode]] = {
    "probes.cli.commands.alerts.channels.NoSuchChannel": ExitCode.USAGE,
    "probes.cli.commands.alerts.incidents.NoSuchIncident": ExitCode.USAGE,
    "probes.cli.commands.setup.edit.NoEditor": ExitCode.NOT_OK,
    "probes.cli.commands.export.NoCertificate": ExitCode.NOT_OK,
    "probes.cli.commands.import_files.FilesRefused": ExitCode.USAGE,
    "probes.cli.commands.mcp.NoMcp": ExitCode.NOT_OK,
    "probes.cli.commands.races.NoSuchRace": ExitCode.USAGE,
    "probes.cli.quick.best.NothingKnown": ExitCode.NO_DATA,
    "probes.cli.quick.best.UnknownMember": ExitCode.USAGE,
    "probes.cli.quick.best.WrongAnswerAsked": ExitCode.USAGE,
    "probes.cli.quick.status.UnknownName": ExitCode.USAGE,
    "probes.config.edit.file.ChangedMeanwhile": ExitCode.NOT_OK,
    "probes.config.model_sources.NoModel": ExitCode.USAGE,
    "probes.config.model_sources.UnknownProvider": ExitCode.USAGE,
    "probes.config.select.UnknownEndpoint": ExitCode.USAGE,
    "probes.config.select.UnknownGroup": ExitCode.USAGE,
    "probes.config_error.ConfigError": ExitCode.USAGE,
    "probes.exports.held.UnknownName": ExitCode.USAGE,
    "probes.exports.parquet.NoParquet": ExitCode.NOT_OK,
    "probes.gate.limit.InvalidGateRequest": ExitCode.USAGE,
    "probes.keys.keyring.KeyringMissing": ExitCode.KEYRING,
    "probes.keys.secret.InvalidKey": ExitCode.USAGE,
    "probes.race.request.InvalidRaceRequest": ExitCode.USAGE,
    "probes.report.read.NothingRecorded": ExitCode.NO_DATA,
    "probes.store.holder.StoreHeld": ExitCode.STORE,
    "probes.store.problem.StoreProblem": ExitCode.STORE,
    "tui.browser.page.NoTerminal": ExitCode.NOT_OK,
    "builtins.OSError": ExitCode.NOT_OK,  # a full disk, a file that may not be written: it names the file itself
}
"""The exit code of each error that ends a command, by its class. Names, so that none of them is imported for this."""


def exit_code_of(error: Exception) -> ExitCode | None:
    """The exit code of an error whose text is all a person needs; None for a defect, shown with its traceback."""
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__)
    return next((CODES[name] for name in names if name in CODES), None)


def message_of(error: Exception) -> str:
    """The text printed for such an error; of an OSError the file and the reason, without the number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)

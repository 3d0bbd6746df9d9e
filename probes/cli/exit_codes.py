"""The exit codes of commands, and which errors end a command with one line of text instead of a traceback."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Every exit code of inftop. Anything else is a defect."""

    OK = 0
    NOT_OK = 1  # not all is well: a probe was not ok, there is no such key, a result could not be written
    USAGE = 2  # a wrong configuration or command line; nothing was done
    STORE = 3  # the store cannot be used, or samples were not stored
    KEYRING = 4  # no keyring that answers
    INTERRUPTED = 130  # Ctrl+C


def exit_code_of(error: Exception) -> ExitCode | None:
    """The exit code of an error whose text is all a person needs; None for a defect, shown with its traceback."""
    from probes.cli.commands.add import NoModel
    from probes.cli.commands.edit import NoEditor
    from probes.cli.commands.export import NoCertificate
    from probes.cli.commands.import_files import FilesRefused
    from probes.cli.commands.races import NoSuchRace
    from probes.config.edit.file import ChangedMeanwhile
    from probes.config.model_sources import UnknownProvider
    from probes.config.select import UnknownEndpoint, UnknownGroup  # all of them only now: most commands end well
    from probes.config_error import ConfigError
    from probes.exports.held import UnknownName
    from probes.exports.parquet import NoParquet
    from probes.keys.keyring import KeyringMissing
    from probes.keys.secret import InvalidKey
    from probes.race.request import InvalidRaceRequest
    from probes.store.holder import StoreHeld
    from probes.store.problem import StoreProblem

    match error:
        case (
            ConfigError()
            | InvalidKey()
            | UnknownEndpoint()
            | UnknownGroup()
            | UnknownProvider()
            | InvalidRaceRequest()
            | NoSuchRace()
            | NoModel()
            | UnknownName()
            | FilesRefused()
        ):
            return ExitCode.USAGE
        case StoreProblem() | StoreHeld():
            return ExitCode.STORE
        case KeyringMissing():
            return ExitCode.KEYRING
        case NoCertificate() | NoParquet() | NoEditor() | ChangedMeanwhile():
            return ExitCode.NOT_OK
        case OSError():  # a full disk, a file that may not be written: it names the file itself
            return ExitCode.NOT_OK
    return None


def message_of(error: Exception) -> str:
    """The text printed for such an error; of an OSError the file and the reason, without the number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)

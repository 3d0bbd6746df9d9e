"""Own commands: what a screen may not do itself, done by ``python -m probes WORDS --json`` in a child process."""

import asyncio
import contextlib
import json
import os
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from probes.keys.secret import Secret
from tui.sources.child import safe
from tui.sources.own_process import engine_argv, engine_environment

WITHIN_S: Final = 60.0
"""How long a command may take, when nothing else is said."""

OUTPUT_LIMIT: Final = 64 << 20
"""Bytes of JSON that are read of a command: a list of ten thousand models has less."""

_WORDS_LIMIT: Final = 1 << 16

LAST_S: Final = 1.0
"""How long the pipes of a killed process are waited for."""


class CommandFailed(Exception):  # noqa: N818  # reads as what it says
    """A command of our own gave no answer; str says why in one plain line, without keys."""


class OwnCommands:
    """Runs our own commands. ``argv`` makes the command line of a command's words, `engine_argv` by default."""

    def __init__(self, argv: Callable[[Iterable[str]], list[str]] | None = None) -> None:
        self._argv = argv or engine_argv

    async def ask(
        self, *words: str, keys: Mapping[str, Secret] | None = None, within_s: float = WITHIN_S
    ) -> list[dict[str, Any]]:
        """The JSON objects that a command writes, whatever its exit status; ``--json`` is added to its words.

        ``keys`` by the names of their variables are in the environment of that process and nowhere else. A command that
        takes longer than ``within_s`` seconds is ended, and so is one whose asker is cancelled. Raises CommandFailed.
        """
        secrets = dict(keys or {})
        environment = engine_environment({**os.environ, **{name: one.reveal() for name, one in secrets.items()}})
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv([*words, "--json"]),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,  # Ctrl+C at the screen is not meant for it
                env=environment,
            )
        except OSError as error:
            raise CommandFailed(f"inftop {words[0]} cannot be started: {error.strerror}") from None
        try:
            written, said = await asyncio.wait_for(_written(process), within_s)
        except TimeoutError:
            raise CommandFailed(f"inftop {words[0]} gave no answer within {within_s:.0f} s") from None
        finally:
            if process.returncode is None:
                await _end(process)
        found = _objects(written)
        if not found:
            raise CommandFailed(_why(words[0], said, process.returncode, secrets.values()))
        return found


async def _written(process: Process) -> tuple[bytes, str]:
    """What a process writes to its standard output until its end, and the last line of its standard error."""
    output, errors = process.stdout, process.stderr
    if output is None or errors is None:
        return b"", ""
    out, err = await asyncio.gather(_read(output, OUTPUT_LIMIT), _read(errors, _WORDS_LIMIT))
    await process.wait()
    lines = [one for one in err.decode(errors="replace").splitlines() if one.strip()]
    return out, lines[-1] if lines else ""


async def _end(process: Process) -> None:
    """Kill a process, and wait until it and its pipes are gone; a grandchild may hold those a little longer."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.communicate(), LAST_S)


async def _read(stream: asyncio.StreamReader, limit: int) -> bytes:
    """A stream to its end; what is beyond the limit is read and dropped."""
    held = bytearray()
    while piece := await stream.read(1 << 16):
        held += piece[: limit - len(held)]
    return bytes(held)


def _objects(written: bytes) -> list[dict[str, Any]]:
    """The JSON objects of a text: one on several lines, or one a line; none where it is no JSON."""
    text = written.decode(errors="replace")
    for parts in ([text], text.splitlines()):
        try:
            found = [json.loads(one) for one in parts if one.strip()]
        except (ValueError, RecursionError):
            continue
        if found and all(isinstance(one, dict) for one in found):
            return found
    return []


def _why(command: str, said: str, status: int | None, secrets: Iterable[Secret]) -> str:
    """Why a command gave nothing, in one plain line without the keys it was given."""
    for one in secrets:
        said = one.hide(said)
    return safe(said) or f"inftop {command} ended with status {status} and said nothing"

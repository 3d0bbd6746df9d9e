"""Tests a key with ``inftop keys test``, in a process of our own that alone has the key."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from probes.config.file import ConfigFile
from probes.keys.secret import Secret
from probes.text import line
from tui.api_keys.model import KeyTest
from tui.sources.own_commands import CommandFailed, OwnCommands

WITHIN_S: Final = 60.0

SAID: Final = {"ok": "taken", "refused": "refused", "cannot tell": "not known"}
"""What a verdict is called on the screen."""


async def ask_with_key(
    commands: OwnCommands, file: ConfigFile, name: str, secret: Secret | None, now: Callable[[], int]
) -> KeyTest:
    """What its providers say to a key: to the one given, else to the one that is found under its name."""
    keys = {name: secret} if secret else None
    try:
        found = await commands.ask("keys", "test", name, *file.argument, keys=keys, within_s=WITHIN_S)
    except CommandFailed as failed:
        return KeyTest(None, f"not known: {failed}", now())
    return key_test(found, now())


def key_test(found: Sequence[Mapping[str, Any]], at_ms: int) -> KeyTest:
    """What came of a test, from what ``inftop keys test --json`` wrote: a refusal first, then who took it."""
    tests: list[object] = next((one["tests"] for one in found if isinstance(one.get("tests"), list)), [])
    rows = [one for one in tests if isinstance(one, dict)]
    for verdict, ok in (("refused", False), ("ok", True), ("cannot tell", None)):
        of = [one for one in rows if one.get("verdict") == verdict]
        if of:
            by = f" by {', '.join(str(one.get('provider') or one.get('url')) for one in of)}" if len(rows) > 1 else ""
            return KeyTest(ok, line(f"{SAID[verdict]}{by}: {of[0].get('why')}", 200), at_ms)
    return KeyTest(None, "not known: there was no answer that could be read", at_ms)

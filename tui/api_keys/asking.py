"""Tests a key: asks a provider for its list of models, in a process of our own that alone has the key."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from probes.config.file import ConfigFile
from probes.config.key_users import KeyUse
from probes.keys.secret import Secret
from probes.text import line
from tui.api_keys.model import KeyTest
from tui.sources.own_commands import CommandFailed, OwnCommands

WITHIN_S: Final = 40.0

REFUSED: Final = frozenset({"auth"})
"""Outcomes that say that the provider does not take the key; any other says nothing of it."""


async def ask_with_key(
    commands: OwnCommands, file: ConfigFile, use: KeyUse, secret: Secret | None, now: Callable[[], int]
) -> KeyTest:
    """What the provider says to a key: the one given, else the one that is found under its name."""
    keys = {use.name: secret} if secret else None
    try:
        found = await commands.ask("models", *use.asked, *file.argument, keys=keys, within_s=WITHIN_S)
    except CommandFailed as failed:
        return KeyTest(None, f"not known: {failed}", now())
    return key_test(found, use.url, now())


def key_test(found: Sequence[Mapping[str, Any]], url: str, at_ms: int) -> KeyTest:
    """What came of a test, from what ``inftop models --json`` wrote of the server at ``url``."""
    lists: list[object] = next((one["lists"] for one in found if isinstance(one.get("lists"), list)), [])
    at_url = [one for one in lists if isinstance(one, dict) and one.get("url") == url]
    match at_url or lists:
        case [{"problem": problem, "outcome": outcome, "models": list(models)}, *_]:
            if problem is None and outcome is None:
                return KeyTest(True, f"taken: {len(models):,} model{'' if len(models) == 1 else 's'}", at_ms)
            words = line(f"{problem or outcome}", 160)
            return KeyTest(False, f"refused: {words}", at_ms) if outcome in REFUSED else KeyTest(None, words, at_ms)
    return KeyTest(None, "not known: there was no answer that could be read", at_ms)

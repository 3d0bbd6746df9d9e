"""Silences: of what nobody is told, and until when."""

from typing import Final, Literal, get_args

from msgspec import Struct

SilenceScope = Literal["endpoint", "provider", "group", "all"]
SILENCE_SCOPES: Final[tuple[SilenceScope, ...]] = get_args(SilenceScope)


class Silence(Struct, frozen=True, kw_only=True):
    """Of what nobody is told until ``until``; ``name`` is that of the endpoint, provider or group, "" of all.

    Instants are milliseconds since the epoch. ``number`` is the store's.
    """

    scope: SilenceScope
    name: str
    made_at: int
    until: int
    made_by: str | None = None
    note: str | None = None
    number: int | None = None

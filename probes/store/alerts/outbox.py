"""Messages that wait to be sent, one row for each channel; put in with the incident's change, in one transaction."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.json import Decoder

from probes import typed_json
from probes.alerts.message import Message
from probes.store.read.reader import StoreReader
from probes.text import line

if TYPE_CHECKING:
    from sqlalchemy import Connection

log = logging.getLogger(__name__)

HELD_BACK: Final = "held back"
"""How the row of a message ended that was not sent because nobody was to be told then: the digest tells of it."""

_COLUMNS: Final = (
    *("channel", "incident_id", "kind", "idempotency_key", "text", "made_at", "next_at"),
    *("ended_at", "ended", "problem"),
)
_THERE: Final = "SELECT 1 FROM outbox WHERE channel = ? AND idempotency_key = ?"
_HELD: Final = """
SELECT text, made_at, problem FROM outbox WHERE channel = ? AND ended = ? AND made_at >= ? ORDER BY made_at, id
"""
_TOLD: Final = """
SELECT DISTINCT channel FROM outbox
WHERE incident_id = ? AND kind IN ('open', 'escalate') AND (ended IS NULL OR ended NOT IN (?, 'cancelled'))
"""
_MESSAGE: Final = Decoder(Message)


class QueuedMessage(Struct, frozen=True, kw_only=True):
    """A message to one channel, not to be sent before ``next_at`` (ms since the epoch).

    ``held`` says why it is not sent at all, where nobody is to be told now; the next digest tells of it.
    """

    channel: str
    message: Message
    next_at: int
    held: str | None = None


class HeldMessage(Struct, frozen=True, kw_only=True):
    """A message that was held back when it was made (ms since the epoch), and why."""

    message: Message
    made_at: int
    why: str


def queue(connection: "Connection", messages: Sequence[QueuedMessage]) -> None:
    """Put messages into the outbox inside the transaction that is open; none that is there already."""
    from probes.store.statements import inserting, run

    for one in messages:
        message = one.message
        if run(connection, _THERE, (one.channel, message.idempotency_key)).first() is not None:
            continue
        values = (
            one.channel,
            message.incident.id if message.incident else None,
            message.kind,
            message.idempotency_key,
            typed_json.encode(message).decode(),
            message.at,
            one.next_at,
            message.at if one.held else None,
            HELD_BACK if one.held else None,
            one.held,
        )
        run(connection, inserting("outbox", _COLUMNS), dict(zip(_COLUMNS, values, strict=True)))


def channels_told(reader: StoreReader, incident: str) -> frozenset[str]:
    """The channels that were told, or will be, that an incident began or got worse. Raises StoreProblem."""
    rows = reader.few(_TOLD, (incident, HELD_BACK)) if reader.has("outbox") else []
    return frozenset(channel for (channel,) in rows)


def read_held_back(reader: StoreReader, channel: str, since_ms: int) -> list[HeldMessage]:
    """What was held back from a channel from an instant on, oldest first. Raises StoreProblem."""
    rows = reader.few(_HELD, (channel, HELD_BACK, since_ms)) if reader.has("outbox") else []
    found = []
    for text, made_at, why in rows:
        try:
            found.append(HeldMessage(message=typed_json.decode(text, _MESSAGE), made_at=made_at, why=why or ""))
        except ValueError as error:  # a newer inftop's
            log.warning("a message that was held back cannot be read: %s", line(str(error)))
    return found

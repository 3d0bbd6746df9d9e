"""Replays: bytes as a provider sends them, each with its instant, through a dialect's reader to a sample; no clock."""

import json
from collections.abc import Iterable
from typing import Any

from probes.answer import Answer
from probes.assembly import assemble
from probes.marks import Marks
from probes.sample import Sample
from probes.surroundings import Disturbance
from probes.wire import load_dialect
from tests.samples import endpoint

Timed = tuple[float, bytes]
"""Milliseconds since the request was sent, and what came then."""


def replayed(dialect: str, records: Iterable[Timed], **fields: Any) -> Sample:
    """The sample of a whole 200 response to an endpoint of these ``fields``."""
    watched = endpoint(**{"dialect": dialect, "max_output_tokens": 2_000, **fields})
    answer, marks, reader = Answer(), Marks(due=0, started=0, sent=0), load_dialect(dialect).reader()
    last = 0
    for at_ms, data in records:
        last = round(at_ms * 1e6)
        for event in reader.feed(data):
            answer.take(event, last, marks)
    for event in reader.close():
        answer.take(event, last, marks)
    return assemble(
        watched, marks, answer,
        vantage="local", started_at=0, status=200, kept=True, limits=None, disturbance=Disturbance(), credentials=None,
    )  # fmt: skip


def sse(*records: dict[str, Any], named: bool = False) -> bytes:
    """Server-sent events, with the record's ``type`` as their name where they have one."""
    return b"".join(
        (f"event: {one['type']}\n".encode() if named else b"") + b"data: " + json.dumps(one).encode() + b"\n\n"
        for one in records
    )


def spread(pieces: list[str], start_ms: float, gap_ms: float) -> list[tuple[float, str]]:
    """Pieces of text at even distances."""
    return [(start_ms + place * gap_ms, piece) for place, piece in enumerate(pieces)]

"""What a race reports while it runs, at most 20 times a second whatever the rate of its tokens; and its commands."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from probes.race.progress import Progress
from probes.race.recording import OutputEvent
from probes.race.request import RaceRequest
from probes.race.verdict import RaceVerdict
from probes.sample import Sample

Phase = Literal["preparing", "running", "between", "over"]
"""Connections are being opened; a heat runs; it is over and another one follows; nothing more comes."""

LaneState = Literal["preparing", "ready", "running", "finished"]


class TextDelta(Struct, frozen=True, forbid_unknown_fields=True, gc=False):  # gc: scalars alone make no cycle
    """Text that continues what a lane has said; that of a ``draft`` takes the place of all its answer so far.

    ``kind`` is a `probes.events.Kind`'s value. The text is plain.
    """

    kind: str
    text: str
    draft: bool = False


def text_deltas(events: Sequence[OutputEvent]) -> tuple[TextDelta, ...]:
    """The text of events one after another, neighbours of one kind joined; a draft begins anew."""
    found: list[TextDelta] = []
    run: list[str] = []
    for place, one in enumerate(events):
        run.append(one.text)
        after = events[place + 1] if place + 1 < len(events) else None
        if after is None or after.draft or after.kind is not one.kind:
            found.append(TextDelta(one.kind.value, "".join(run), events[place + 1 - len(run)].draft))
            run = []
    return tuple(found)


class LaneNews(Struct, frozen=True, forbid_unknown_fields=True):
    """One lane: what it said since the last report (``deltas``), and how it stands now.

    ``sample`` and ``place`` (None: it did not finish right) come when it is ``finished``.
    """

    name: str
    state: LaneState
    progress: Progress
    deltas: tuple[TextDelta, ...] = field(default=(), name="pieces")  # the name in `inftop race --json`
    sample: Sample | None = None
    place: int | None = None


class RaceNews(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="racenews"):
    """A race at one instant; a new ``heat`` (from 1) begins with empty lanes.

    ``number`` is its number in the store once it is kept, ``verdict`` that over the heats so far; ``stopped`` says
    why it ended before its last heat, ``cost_usd`` what all heats cost so far, where prices are known.
    """

    started_at: int
    request: RaceRequest = field(name="wish")  # the name in `inftop race --json`
    phase: Phase
    heat: int
    lanes: tuple[LaneNews, ...]
    skew_ms: float | None = None
    differences: tuple[str, ...] = ()
    verdict: RaceVerdict | None = None
    stopped: str | None = None
    cost_usd: float | None = None
    number: int | None = None


class RaceCommand(Struct, frozen=True, tag_field="type", tag="racecommand"):
    """A command of the screen: start a race (as its ``request`` says), or stop the one that runs."""

    do: Literal["start", "stop"]
    request: RaceRequest | None = None

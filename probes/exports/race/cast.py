"""A race as an asciinema recording, version 2, that plays in any terminal and in a browser.

The format: https://docs.asciinema.org/manual/asciicast/v2/. Every event has an output line of its own, at its own
time, rounded to a microsecond: nothing is merged into frames. Speeds and clocks are redrawn in between.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from probes.events import Kind
from probes.exports.race.heat_film import HeatFilm
from probes.exports.race.text_box import TextBox, at
from probes.race.race import Race
from probes.race.recording import OutputEvent
from probes.text import line

WIDTH: Final = 120
HEIGHT: Final = 32
PAUSE_NS: Final = 2_000_000_000
"""From the end of a heat to the start of the next, and from the verdict to the end."""


def cast(race: Race, width: int = WIDTH, height: int = HEIGHT) -> Iterator[str]:
    """The lines: a header, a marker at each heat's start, what a terminal is to write and when, last the verdict."""
    yield json.dumps(_header(race, width, height), ensure_ascii=False) + "\n"
    yield _line(0, "o", "\x1b[?25l\x1b[2J")
    start = 0
    for heat in race.heats:
        film = HeatFilm(race, heat, width, height)
        yield _line(start, "m", f"heat {heat.number}")
        for at_ns, data in film.frames():
            yield _line(start + at_ns, "o", data)
        start += -(-film.duration_ns // 1_000) * 1_000 + PAUSE_NS  # whole microseconds: each time is rounded once
    end = max(0, start - PAUSE_NS)
    box = TextBox(height - 1, 2, width - 2, 2)
    yield _line(end, "o", "\x1b[1m" + box.add(OutputEvent(0, Kind.ANSWER, line(race.verdict.words))) + "\x1b[0m")
    yield _line(end + PAUSE_NS, "o", at(height, width) + "\x1b[?25h")


def _header(race: Race, width: int, height: int) -> dict[str, Any]:
    names = " vs ".join(line(one.name) for one in race.lanes)
    return {
        "version": 2,
        "width": width,
        "height": height,
        "timestamp": race.started_at // 1000,
        "title": f"{names}: every event at its own time, to the microsecond; numbers redrawn 20 times a second",
        "env": {"TERM": "xterm-256color"},
    }


def _line(ns: int, code: str, data: str) -> str:
    return json.dumps([(ns + 500) // 1_000 / 1e6, code, data], ensure_ascii=False) + "\n"

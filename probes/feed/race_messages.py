"""Line: the news of a race, and a screen's wishes for one, as JSON lines."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from probes.checked_json import checked
from probes.race.progress import Progress
from probes.race.to_json import verdict_of, wish_of
from probes.race.updates import LaneNews, RaceCommand, RaceNews, TextDelta
from probes.sample import Sample


def record_of(message: RaceNews | RaceCommand) -> dict[str, Any]:
    """What JSON can hold, ``type`` included."""
    record = asdict(message)
    if isinstance(message, RaceNews):
        for lane, said in zip(record["lanes"], message.lanes, strict=True):
            lane["sample"] = said.sample.to_json() if said.sample else None
    return {"type": type(message).__name__.lower(), **record}


def encode(message: RaceNews | RaceCommand) -> bytes:
    """One JSON line, newline included."""
    return json.dumps(record_of(message), separators=(",", ":")).encode() + b"\n"


def read(record: Mapping[str, Any]) -> RaceNews | RaceCommand:
    """The message of a record with its ``type``. Raises KeyError, TypeError, ValueError or AttributeError."""
    values = {name: value for name, value in record.items() if name != "type"}
    if record["type"] == "racecommand":
        wish = values["wish"]
        return checked(RaceCommand(values["do"], None if wish is None else wish_of(wish)))
    verdict = values["verdict"]
    news = RaceNews(
        **{
            **values,
            "wish": wish_of(values["wish"]),
            "lanes": tuple(_lane(one) for one in values["lanes"]),
            "differences": tuple(map(str, values["differences"])),
            "verdict": None if verdict is None else verdict_of(verdict),
        }
    )
    return checked(news)


def _lane(record: Mapping[str, Any]) -> LaneNews:
    sample = record["sample"]
    return checked(
        LaneNews(
            **{
                **record,
                "progress": checked(Progress(**record["progress"])),
                "pieces": tuple(checked(TextDelta(**one)) for one in record["pieces"]),
                "sample": None if sample is None else checked(Sample.from_json(sample)),
            }
        )
    )

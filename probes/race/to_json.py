"""Race records: the parts of a race as JSON-ready values, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from probes.checked_json import checked
from probes.endpoint import Price
from probes.race.race import LaneFacts
from probes.race.request import RaceRequest
from probes.race.verdict import FaultCount, HeadToHead, PairedComparison, RaceVerdict

T = TypeVar("T")

# The way there is `dataclasses.asdict`. On the way back what a newer inftop added is left out. Each of these raises
# KeyError, TypeError or ValueError where the record is not one.


def wish_of(record: Mapping[str, Any]) -> RaceRequest:
    """The wish of a record."""
    return _made(RaceRequest, record, lanes=tuple(record["lanes"]))


def facts_of(record: Mapping[str, Any]) -> LaneFacts:
    """The facts of a lane."""
    price = record["price"]
    return _made(LaneFacts, record, price=None if price is None else _made(Price, price))


def verdict_of(record: Mapping[str, Any]) -> RaceVerdict:
    """The verdict of a record."""
    return _made(
        RaceVerdict,
        record,
        duels=tuple(map(_duel_of, record["duels"])),
        faults=tuple(_made(FaultCount, one) for one in record["faults"]),
    )


def _duel_of(record: Mapping[str, Any]) -> HeadToHead:
    return _made(HeadToHead, record, comparisons=tuple(_made(PairedComparison, one) for one in record["comparisons"]))


def _made(kind: type[T], record: Mapping[str, Any], **parts: Any) -> T:
    """A checked dataclass of the fields that the record has, and of ``parts`` in place of theirs."""
    known: Any = fields(kind)  # type: ignore[arg-type]  # every T here is a dataclass
    return checked(kind(**{one.name: record[one.name] for one in known if one.name in record} | parts))

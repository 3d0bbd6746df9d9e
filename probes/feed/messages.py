"""Frames: the engine's words to a screen and a screen's words to the engine, as frozen values and JSON lines.

An engine writes one `Hello`, then at most 20 `Frame` a second, one JSON object a line, on its standard
output. A screen writes `Command` lines to the engine's standard input; end of file there means the screen is
gone.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, get_args

from probes.checked_json import checked
from probes.diagnosis.reachability import ReachabilityCheck, way_of
from probes.endpoint import Endpoint, Policy, Price
from probes.feed import race_messages as race_line
from probes.outcome import Outcome
from probes.race.updates import RaceCommand, RaceNews
from probes.route import via_of
from probes.sample import Sample
from probes.store.status import StoreState, StoreStatus

FRAMES_PER_SECOND: Final = 20


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The engine at one instant; ``usd_today`` and ``tokens_today`` count since 00:00 UTC, all endpoints.

    ``loop_lag_ms`` is the worst lateness of the engine's own heartbeat over the last ten seconds.
    ``controls`` holds the newest one of every origin; ``notice`` is what a person is to know of the schedule.
    """

    store: StoreStatus
    paused: bool = False
    loop_lag_ms: float | None = None
    usd_today: float = 0.0
    tokens_today: int = 0
    usd_cap: float | None = None
    tokens_cap: int | None = None
    over_budget: str | None = None
    controls: tuple[ReachabilityCheck, ...] = ()
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class MonitorStatus:
    """One endpoint's schedule at one instant; instants are milliseconds since the epoch.

    ``failing``: it is blocked for a failure (it flooded us, or is overloaded and asked for it), and not by a limiter.
    """

    endpoint: str
    next_due: int | None = None
    running: bool = False
    paused: bool = False
    no_key: bool = False
    blocked_until: int | None = None
    blocked_why: str | None = None
    failing: bool = False


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """What a screen needs to know of an endpoint to draw its row; ``key`` is only the key's name.

    ``tier`` is the service tier, or the speed, that its requests ask for; None where they ask for none.
    """

    name: str
    provider: str
    model: str
    dialect: str
    group: str | None
    connection: Policy
    interval: float
    enabled: bool = True
    key: str | None = None
    price: Price | None = None
    tier: str | None = None
    origin: str = ""

    @classmethod
    def of(cls, endpoint: Endpoint) -> "EndpointFacts":
        """The facts of an endpoint of the configuration."""
        return cls(
            name=endpoint.name,
            provider=endpoint.provider,
            model=endpoint.model,
            dialect=endpoint.dialect,
            group=endpoint.group,
            connection=endpoint.connection,
            interval=endpoint.interval,
            enabled=endpoint.enabled,
            key=endpoint.keys[0] if endpoint.keys else None,
            price=endpoint.price,
            tier=_tier(endpoint.body),
            origin=way_of(endpoint.base_url, via_of(endpoint.route, endpoint.base_url)),
        )


def _tier(body: Mapping[str, Any]) -> str | None:
    """The tier a request asks for: ``speed`` is Anthropic's word, ``service_tier`` everybody else's."""
    asked = body.get("speed", body.get("service_tier"))
    return asked if isinstance(asked, str) else None


@dataclass(frozen=True, slots=True)
class Hello:
    """The first line of an engine; where a ``holder`` already records to the store, no frames follow."""

    version: str
    pid: int
    store_url: str
    simulated: bool
    endpoints: tuple[EndpointFacts, ...]
    holder: str | None = None
    vantage: str = "local"


@dataclass(frozen=True, slots=True)
class Frame:
    """What happened since the frame before: new samples, the engine as it is now, last answers by endpoint.

    ``watches`` holds those that changed since the frame before; all of them in the first one.
    """

    at: int
    engine: EngineStatus
    watches: tuple[MonitorStatus, ...]
    samples: tuple[Sample, ...] = ()
    answers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A wish of the screen. ``endpoint`` None means all of them."""

    do: Literal["pause", "resume", "probe"]
    endpoint: str | None = None


def encode(message: Hello | Frame | Command | RaceNews | RaceCommand) -> bytes:
    """One JSON line, newline included."""
    if isinstance(message, RaceNews | RaceCommand):
        return race_line.encode(message)
    record = asdict(message)
    if isinstance(message, Frame):
        known = ({name: value for name, value in one.to_json().items() if value is not None} for one in message.samples)
        record["samples"] = list(known)
    record["type"] = type(message).__name__.lower()
    return json.dumps(record, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def decode(line: bytes) -> Hello | Frame | Command | RaceNews | RaceCommand:
    """The message of one line. Raises ValueError where it is none."""
    try:
        record: dict[str, Any] = json.loads(line)
        kind = record.pop("type")
        if kind == "frame":
            frame = Frame(
                at=record["at"],
                engine=engine_status(record["engine"]),
                watches=tuple(checked(MonitorStatus(**one)) for one in record["watches"]),
                samples=tuple(checked(Sample.from_json(one)) for one in record["samples"]),
                answers=None if record["answers"] is None else {str(k): str(v) for k, v in record["answers"].items()},
            )
            return checked(frame)
        if kind == "hello":
            facts = tuple(_facts(one) for one in record["endpoints"])
            return checked(Hello(**{**record, "endpoints": facts}))
        if kind == "command":
            return checked(Command(**record))
        if kind in ("racenews", "racecommand"):
            return race_line.read({**record, "type": kind})
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a message: {error!r}") from error
    raise ValueError(f"no message is called {kind!r}")


def _facts(record: Mapping[str, Any]) -> EndpointFacts:
    price = record.get("price")
    return checked(EndpointFacts(**{**record, "price": None if price is None else checked(Price(**price))}))


def engine_status(record: Mapping[str, Any]) -> EngineStatus:
    """The status of a record. Raises KeyError, TypeError, ValueError or AttributeError where it is none."""
    controls = tuple(_control(one) for one in record.get("controls", ()))
    return checked(EngineStatus(**{**record, "store": _store_status(record["store"]), "controls": controls}))


def _store_status(record: Mapping[str, Any]) -> StoreStatus:
    """How the store is; what a newer inftop says of it that is not known here is left out, a new state is `failed`."""
    known = checked(StoreStatus(**{one.name: record[one.name] for one in fields(StoreStatus) if one.name in record}))
    return known if known.state in get_args(StoreState) else replace(known, state="failed")


def _control(record: Mapping[str, Any]) -> ReachabilityCheck:
    return checked(ReachabilityCheck(**{**record, "outcome": Outcome(record["outcome"])}))

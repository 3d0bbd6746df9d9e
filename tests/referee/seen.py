"""Seen: what a client made of one response; two clients that read the same bytes must have seen the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from probes.config.presets import presets
from probes.endpoint import Endpoint
from probes.events import Event, Kind, Output
from probes.keys.secret import Secret
from probes.measure.probe import Prober
from probes.sample import Sample
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from probes.wire.credentials import Credentials
from probes.wire.dialect import Dialect, StreamReader
from tests.samples import endpoint

KEY = "sk-of-no-use-0123456789"
MODEL = "test-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Texts, token counts and what served; None for what a client does not tell. Counts are as `Usage` has them."""

    answer: str = ""
    reasoning: str = ""
    refusal: str = ""
    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning_tokens: int | None = None
    finish: str | None = None
    tier: str | None = None
    model: str | None = None


def below(url: str, preset: str) -> str:
    """The preset's base URL as if ``url`` were its server."""
    return url + urlsplit(presets()[preset].base_url).path


def watched(preset: str, base_url: str, **body: Any) -> Endpoint:
    """An endpoint of the preset, with more request fields."""
    known = presets()[preset]
    return endpoint(
        provider=preset,
        dialect=known.dialect,
        base_url=base_url,
        model=MODEL,
        quirks=known.quirks,
        body={**known.body, **body},
        max_output_tokens=1_000,  # a recorded answer may be shortened, and its counts are not
    )


async def probed(one: Endpoint) -> tuple[Sample, Seen]:
    """What a real probe sees there."""
    ear = Ear(load_dialect(one.dialect))
    prober = Prober(one, ear, transport_to(one.base_url, None))
    try:
        sample = (await prober.probe(Credentials(Secret(KEY)))).sample
    finally:
        prober.close()
    return sample, Seen(
        answer=ear.text(Kind.ANSWER),
        reasoning=ear.text(Kind.REASONING),
        refusal=ear.text(Kind.REFUSAL),
        input=sample.input_tokens,
        cached=sample.cached_tokens,
        output=sample.output_tokens,
        reasoning_tokens=sample.reasoning_tokens,
        finish=sample.finish_reason,
        tier=sample.served_tier,
        model=sample.served_model,
    )


class Ear:
    """The dialect ``inner``, whose events are listened to: a sample keeps no reasoning text."""

    def __init__(self, inner: Dialect) -> None:
        self._inner = inner
        self._heard: list[Event] = []
        self.name = inner.name
        self.request = inner.request
        self.failure = inner.failure

    def response_events(self, headers: Mapping[str, str]) -> Iterable[Event]:
        """What the headers say."""
        return self._inner.response_events(headers)

    def reader(self) -> StreamReader:
        """A fresh decoder."""
        return _Listening(self._inner.reader(), self._heard)

    def text(self, kind: Kind) -> str:
        """All output of a kind, as sent."""
        return "".join(one.text for one in self._heard if isinstance(one, Output) and one.kind is kind)


class _Listening:
    def __init__(self, inner: StreamReader, heard: list[Event]) -> None:
        self._inner = inner
        self._heard = heard

    def feed(self, data: bytes) -> Iterable[Event]:
        return self._listen(self._inner.feed(data))

    def close(self) -> Iterable[Event]:
        return self._listen(self._inner.close())

    def _listen(self, events: Iterable[Event]) -> Iterable[Event]:
        events = list(events)
        self._heard += events
        return events


def field(value: Any, *path: str) -> Any:
    """What lies at the path of attributes in an SDK's object, None where it ends early."""
    for name in path:
        value = getattr(value, name, None)
    return value

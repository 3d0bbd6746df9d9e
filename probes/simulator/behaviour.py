"""Behaviour: what one simulated model is like, as a frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from probes.events import Kind
from probes.simulator import prose
from probes.simulator.distribution import Constant, Distribution
from probes.simulator.faults.fault import Fault
from probes.simulator.limiter import Allowance
from probes.simulator.rate_limits import LimitStyle


@dataclass(frozen=True, slots=True)
class Incident:
    """A disturbance that returns: from ``first_s`` on, for ``lasts_s``, every ``every_s`` seconds.

    It touches a ``share`` of the requests: spoils their answers with ``fault``, makes them ``slower`` by a factor, and
    serves them at another ``speed`` than the one asked for (Anthropic's fast mode).
    """

    first_s: float
    lasts_s: float
    every_s: float
    share: float = 1.0
    fault: Fault | None = None
    slower: float = 1.0
    speed: str | None = None

    def holds(self, since_start_s: float) -> bool:
        """Whether the spell is on."""
        return since_start_s >= self.first_s and (since_start_s - self.first_s) % self.every_s < self.lasts_s


@dataclass(frozen=True, slots=True)
class HealthSchedule:
    """A model's spells, the gravest first."""

    spells: tuple[Incident, ...]

    def at(self, since_start_s: float, draw: float) -> Incident | None:
        """The spell that touches a request at that time; ``draw`` is the request's luck, 0 to 1."""
        return next((one for one in self.spells if one.holds(since_start_s) and draw < one.share), None)


ReasoningStyle = Literal["reasoning", "reasoning_content", "parts", "reasoning_text", "hidden"]
UsagePlace = Literal["own_chunk", "finish", "x_groq", "choice", "every_chunk", "never"]
TimingStyle = Literal["none", "openai", "cerebras", "groq", "llamacpp", "sambanova", "fireworks"]

AT_ONCE: Final = Constant(0.0)
FAST: Final = Constant(1_000.0)
ONE_EACH: Final = Constant(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One model's pace, words and habits, in whatever tongue it is asked.

    Pace. ``load_ms`` passes before anything else, while a local server loads the model. ``ttft_ms`` runs from then,
    or from the request fully read, to the first token; a share ``queue_share`` of it is told as queueing. ``ttfb_ms``
    is when the headers and the role chunk go, None for together with the first token. ``tokens_per_s`` is the decode
    speed. ``tokens_per_chunk`` is drawn for every event; a diffusion model's blocks are a large number here.

    Words. ``text`` is said once, or to ``output_tokens`` tokens, but never past the cap of the request; text of
    several sentences starts at a drawn one. ``kind`` says whether it is an answer, a refusal or tool arguments.
    ``reasoning_tokens`` come first, in the field ``reasoning_style`` names: ``parts`` is a list of typed parts
    (Mistral), ``hidden`` is silence that is counted in usage only. The other dialects have one form for reasoning, but
    for Responses, which tells a summary to those who ask, and with ``reasoning_text`` (open models) the text itself.
    With a ``summary`` so large a share of the reasoning's text is told, in a few pieces shortly before the answer.

    Usage. ``never`` is none in any tongue, the other places are those of chat completions: ``own_chunk`` has empty
    choices and comes after the finish; with ``usage_when_asked`` only if the request set ``include_usage``.
    ``reasoning_counted`` is whether ``completion_tokens`` include reasoning (xAI's do not), ``reasoning_split`` whether
    the reasoning is counted apart too. ``usage_extra`` is merged
    into the usage object (cached tokens under any name, a cost). ``timings`` is the style of server timings; Fireworks
    and, on every chunk, llama.cpp send theirs only to those who ask.

    Framing. ``comment`` is an SSE comment (Anthropic: a ping) sent every ``comment_every_ms`` between headers and first
    token. ``role_first``, ``done`` (the marker) and ``request_id_header`` are of chat completions, the last of
    Responses too.

    What served. ``service_tier`` is the tier (None: the usual one of the tongue) and ``speed`` the speed of Anthropic's
    fast mode (None: as asked).

    The rest: ``allowance`` is enforced by a limiter that speaks in ``limits``; with a ``key`` any other is
    refused; ``fault`` spoils every answer, ``mood`` some of them. ``upgrade_fault`` spoils every upgrade to a
    WebSocket, which names no model yet.
    """

    load_ms: Distribution | None = None
    ttft_ms: Distribution = AT_ONCE
    ttfb_ms: Distribution | None = None
    queue_share: float = 0.3
    tokens_per_s: Distribution = FAST
    tokens_per_chunk: Distribution = ONE_EACH

    text: str | tuple[str, ...] = prose.ANSWER
    kind: Kind = Kind.ANSWER
    output_tokens: Distribution | None = None
    reasoning_tokens: Distribution | None = None
    reasoning_style: ReasoningStyle = "reasoning"
    summary: float | None = None

    usage: UsagePlace = "own_chunk"
    usage_when_asked: bool = False
    usage_extra: Mapping[str, Any] = field(default_factory=dict)
    reasoning_counted: bool = True
    reasoning_split: bool = True
    timings: TimingStyle = "none"

    role_first: bool = True
    done: bool = True
    comment: str | None = None
    comment_every_ms: float = 100.0
    served_model: str | None = None
    service_tier: str | None = None
    speed: str | None = None
    served_by: str | None = None
    request_id_header: str | None = "x-request-id"

    limits: LimitStyle = "none"
    allowance: Allowance | None = None
    key: str | None = None
    fault: Fault | None = None
    mood: HealthSchedule | None = None
    upgrade_fault: Fault | None = None

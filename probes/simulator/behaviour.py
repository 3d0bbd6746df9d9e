"""The behaviour of one simulated model as a frozen value: its pace, its text, its API's habits, and when it fails."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from probes.events import Kind
from probes.simulator import prose
from probes.simulator.distribution import Constant, Distribution
from probes.simulator.faults.fault import Fault
from probes.simulator.limit_responses import LimitStyle
from probes.simulator.limiter import Allowance


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident that recurs: it begins ``first_s`` after the start and then every ``every_s``, and lasts ``lasts_s``.

    It affects a ``share`` of the requests: ``fault`` is applied to their answers, their times are multiplied by
    ``slower``, and they are served at this ``speed`` instead of the requested one (Anthropic's fast mode).
    """

    first_s: float
    lasts_s: float
    every_s: float
    share: float = 1.0
    fault: Fault | None = None
    slower: float = 1.0
    speed: str | None = None

    def is_active(self, since_start_s: float) -> bool:
        """Whether the incident is going on at that time."""
        return since_start_s >= self.first_s and (since_start_s - self.first_s) % self.every_s < self.lasts_s


@dataclass(frozen=True, slots=True)
class HealthSchedule:
    """A model's incidents; where several are active, the first of them counts."""

    incidents: tuple[Incident, ...]

    def at(self, since_start_s: float, draw: float) -> Incident | None:
        """The incident that affects a request at that time; ``draw`` is a random number of the request, 0 to 1."""
        return next((one for one in self.incidents if one.is_active(since_start_s) and draw < one.share), None)


ReasoningStyle = Literal["reasoning", "reasoning_content", "parts", "reasoning_text", "hidden"]
UsagePlace = Literal["own_chunk", "finish", "x_groq", "choice", "every_chunk", "never"]
TimingStyle = Literal["none", "openai", "cerebras", "groq", "llamacpp", "sambanova", "fireworks"]

AT_ONCE: Final = Constant(0.0)
FAST: Final = Constant(1_000.0)
ONE_EACH: Final = Constant(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One model's pace, text and API habits, for any dialect.

    Pace. ``load_ms`` passes before anything else, while a local server loads the model. ``ttft_ms`` runs from then, or
    from the request fully read, to the first token; a share ``queue_share`` of it is reported as queueing. ``ttfb_ms``
    is when the headers and the role chunk are sent, None for together with the first token. ``tokens_per_s`` is the
    decode speed. ``tokens_per_chunk`` is drawn for every event; a diffusion model's blocks are a large number here.

    Text. ``text`` is sent once, or repeated to ``output_tokens`` tokens, but never past the output cap of the request,
    unless no cap is heeded (``heeds_cap``); text of several sentences starts at a random one. ``kind`` says whether it
    is an answer, a refusal or tool arguments. ``reasoning_tokens`` come first, in the field ``reasoning_style`` names:
    ``parts`` is a list of typed parts (Mistral), ``hidden`` sends nothing and counts it in the usage. The other
    dialects have one form for reasoning, except Responses, which sends a summary where the request asks for one, and
    with ``reasoning_text`` (open models) the text itself. With a ``summary``, that share of the reasoning's text is
    sent, in a few events shortly before the answer.

    Usage. ``never`` is none in any dialect, the other places are those of chat completions: ``own_chunk`` has empty
    choices and comes after the finish; with ``usage_when_asked`` only if the request set ``include_usage``.
    ``reasoning_counted`` is whether ``completion_tokens`` include reasoning (xAI's do not), ``reasoning_split`` whether
    the reasoning is also counted separately. ``usage_extra`` is merged into the usage object (cached tokens under any
    name, a cost). ``timings`` is the style of server timings; Fireworks and, on every chunk, llama.cpp send theirs only
    where the request asks for them.

    Framing. ``comment`` is an SSE comment (Anthropic: a ping) sent every ``comment_every_ms`` between headers and first
    token. ``role_first``, ``done`` (the marker) and ``request_id_header`` are of chat completions, the last of
    Responses too.

    What served. ``service_tier`` is the tier (None: the default one of the dialect) and ``speed`` the speed of
    Anthropic's fast mode (None: as requested).

    The rest. ``allowance`` is enforced by a limiter, whose headers and refusals are in the style of ``limits``; with a
    ``key`` any other key is rejected; ``fault`` is applied to every answer, the incidents of ``health`` to some.
    ``upgrade_fault`` is applied to every upgrade to a WebSocket, which names no model yet.
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
    heeds_cap: bool = True
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
    health: HealthSchedule | None = None
    upgrade_fault: Fault | None = None

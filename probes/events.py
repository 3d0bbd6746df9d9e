"""Events: what every dialect turns a response's stream into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from probes.outcome import Outcome

EVENT_LIMIT: Final = 256 << 10
"""Bytes one event may have; a longer one is a protocol error. Brackets alone are decoded in 15 ms, into 10 MB; an event
that holds the whole of an answer of 20,000 tokens has a third of it."""


CAPPED: Final = frozenset({"length", "model_length", "max_tokens", "max_output_tokens"})
"""Finish reasons, in lower case, that say the output cap was reached: OpenAI's and its look-alikes', Mistral's,
Anthropic's and Gemini's, OpenAI Responses' (providers' SDKs)."""


class Kind(StrEnum):
    """What a piece of output is."""

    ANSWER = "answer"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    TOOL = "tool"


class Output(NamedTuple):
    """Non-empty output of one event. ``tokens`` is the running output count the same event carried, if any.

    The ``text`` continues what came before; but that of a ``draft`` is the whole answer so far, in place of it.
    ``raw`` is of reasoning: true where the text is what the model generated, false where it is a summary of that, None
    where the dialect cannot know.
    """

    kind: Kind
    text: str
    tokens: int | None = None
    draft: bool = False
    raw: bool | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reports them; cumulative, so a later one replaces an earlier one field by field.

    ``output`` includes ``reasoning`` (the dialect adds it in where a provider leaves it out); ``input`` includes
    ``cached``. ``cost_usd`` is what the provider itself says, where it does.
    """

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ServerTimes:
    """Times as the server reports them, milliseconds; ``tokens_per_s`` is its own decode speed.

    ``load_ms`` is what it took to have the model ready, before anything was done with the prompt.
    """

    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    tokens_per_s: float | None = None
    load_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ServedBy:
    """What really served the request: model, tier, upstream provider, the build, and the id to quote to support.

    Of several ids the first stands: a header's comes before the body's.
    """

    model: str | None = None
    tier: str | None = None
    by: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """A sign of life, before anything else of the answer, of a server whose queue the request waits in."""


@dataclass(frozen=True, slots=True)
class HiddenReasoning:
    """A sign that the model reasoned and did not show it: an empty, encrypted or redacted block."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The reason the model stopped, in the provider's word; ``words`` are what it says of that, where it does."""

    reason: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The stream's terminal marker: nothing more of this answer will come.

    ``note``: what was missing at the end of an answer that is complete all the same.
    """

    note: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error: of the whole response, or inside a stream that began well. ``retry_after_s`` where the body says.

    ``headers`` (names in lower case) are those it brings with it beside, or in place of, those of its response.
    ``said`` is what the provider said, longer than the ``detail`` and not yet safe to show. ``day_zone`` is the time
    zone at whose midnight a used up quota of a day begins anew; ``closed``: waiting helps nothing, nothing is allowed.
    """

    outcome: Outcome
    detail: str
    retry_after_s: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    said: str = field(default="", repr=False, compare=False)
    day_zone: str | None = None
    closed: bool = False


Event = Output | Usage | ServerTimes | ServedBy | Queued | HiddenReasoning | Finish | StreamEnd | Failure

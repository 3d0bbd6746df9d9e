"""Events: what every dialect turns the stream of a response into."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from probes.outcome import Outcome

EVENT_LIMIT: Final = 256 << 10
"""Bytes that one event may have; a longer one is a protocol error. One of nothing but brackets takes 15 ms and 10 MB to
decode; one with the whole of an answer of 20,000 tokens is a third as long."""


CAPPED: Final = frozenset({"length", "model_length", "max_tokens", "max_output_tokens"})
"""Finish reasons, in lower case, for a reached output cap: OpenAI's and its look-alikes', Mistral's,
Anthropic's and Gemini's, OpenAI Responses' (providers' SDKs)."""

_RAW: Final = re.compile(r"claude-3[-.]7|gpt-oss", re.IGNORECASE)
"""Models whose reasoning text is raw. Claude 3.7 is the only Claude whose thinking comes whole
(platform.claude.com/docs, extended thinking, differences across model versions); gpt-oss is open."""

_SUMMARIZED: Final = re.compile(r"claude|gemini|(?:^|[/.])(?:gpt-[5-9]|o[1-9])", re.IGNORECASE)
"""Models whose reasoning text is a summary, whichever gateway passes it on, under whatever field: Claude 4 and newer,
Gemini ("thought summaries", ai.google.dev, thinking) and OpenAI's own reasoning models (platform.openai.com/docs,
reasoning: raw reasoning is not exposed)."""


class Kind(StrEnum):
    """The kind of a piece of output."""

    ANSWER = "answer"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    TOOL = "tool"


class Output(NamedTuple):
    """Non-empty output of one event. ``tokens`` is the running output count the same event carried, if any.

    The ``text`` continues the output before it, but that of a ``draft`` replaces it: it is the whole answer so far.
    ``raw`` is about reasoning: true where the text is what the model generated, false where it is a summary of that,
    None where the dialect cannot know.
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
    ``cached``. ``cost_usd`` is the cost that the provider itself reports, where it does.
    """

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ServerTimes:
    """Times as the server reports them, in milliseconds; ``tokens_per_s`` is the decode speed by its own account.

    ``load_ms`` is the time to load the model, before the prompt is processed.
    """

    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    tokens_per_s: float | None = None
    load_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ServedBy:
    """What served the request: model, tier, upstream provider (``by``), build, and the id to quote to support.

    The first of several ids counts: a header's comes before the body's.
    """

    model: str | None = None
    tier: str | None = None
    by: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """A keep-alive from a server in whose queue the request waits, before the first event of the answer."""


@dataclass(frozen=True, slots=True)
class HiddenReasoning:
    """A sign that the model reasoned without showing it: an empty, encrypted or redacted block."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Why the model stopped, in the provider's word; ``words`` is its explanation, where it sends one."""

    reason: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The stream's terminal marker: the answer is complete.

    ``note``: what was missing at the end of an answer that is complete all the same.
    """

    note: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request failed: by its response, or by an error inside a stream that began well.

    ``detail`` is one plain line, safe to show. ``retry_after_s`` is the wait that the body asks for. ``headers`` (names
    in lower case) are those inside the error, which count beside the response's own. ``provider_message`` is the
    provider's own text, longer than ``detail`` and not safe to show. ``day_zone`` is the time zone at whose midnight a
    used up quota per day is renewed. ``closed``: the limit allows nothing at all, so that waiting does not help.
    """

    outcome: Outcome
    detail: str
    retry_after_s: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    provider_message: str = field(default="", repr=False, compare=False)
    day_zone: str | None = None
    closed: bool = False


Event = Output | Usage | ServerTimes | ServedBy | Queued | HiddenReasoning | Finish | StreamEnd | Failure


@lru_cache(maxsize=256)
def raw_reasoning(model: str | None) -> bool | None:
    """Whether a model's reasoning text is raw (true) or a summary (false), by its name; None where unknown."""
    if not model:
        return None
    if _RAW.search(model):
        return True
    return False if _SUMMARIZED.search(model) else None

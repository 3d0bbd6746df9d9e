"""Decode speed: tokens per second of an answer, or why there is none that would be true; pure.

Providers count the tokens of reasoning whatever they show of it: all of it, a summary, or nothing. What was not shown
as it was generated was decoded at no time that can be seen from here, so it is in no speed: that is then the speed of
the answer alone. Where nobody says how much of the count was reasoning, the text must bear the count out.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from probes.events import Kind
from probes.figures.buffering import FASTEST_DECODER
from probes.figures.plausible import FASTEST
from probes.figures.timeline import ContentEvent
from probes.figures.timing import Tokens
from probes.figures.token_bounds import MARGIN, fewest_tokens, most_tokens
from probes.outcome import Outcome
from probes.sample import Sample
from probes.stats.quantiles import quantile

FEWEST_EVENTS: Final = 3
"""Content events below which a decode speed says more about chunking than about the model."""

SHORTEST_SPAN_MS: Final = 50.0
"""Span of output below which a decode speed is arithmetic on noise (a buffering proxy, one flush)."""

FEW_MORE: Final = 0.03
"""Where every event is one token, there are at most so many more tokens than events, as a share of the events."""

SHARE_UNCERTAINTY: Final = 0.7
"""Times √n_first: n_first is wrong by less, as a rule, where it is a share of the characters. So it was for nine of ten
answers in prose, reasoning, code, JSON, tables and LaTeX, in six languages and two tokenizers."""

MOST_UNCERTAIN: Final = 0.02
"""The share of a speed's tokens that may be uncertain; above it there is no speed. Times have the same limit
(`probes.sample.TRUSTED_SPEED`)."""

FRAMING_TOKENS: Final = 8
"""Tokens of an answer that are in no text: its end, the turns of a chat template."""

CALL_TOKENS: Final = 40
"""Tokens of an answer with a tool's call that are in no text: also its name, and what stands around its arguments."""

PACE: Final = 3.0
"""Reasoning that comes so many times faster than the answer after it, or slower, was not decoded as it came."""

UNKNOWN_MARGIN: Final = 1.15
"""In place of `MARGIN` where nobody knows whether reasoning came raw: models whose does have ordinary tokenizers."""

LAG_TOKENS: Final = 2
"""By so many a running count may be below the whole at the last content event: the end of the answer is a token too."""

USUAL_ANSWERS: Final = 8
"""How many earlier answers it takes, at least, for their characters per token to be known."""

USUAL_TOKENS: Final = 16
"""Shorter answers say nothing about the characters per token."""

LEAST_OF_USUAL: Final = 0.75
"""The share of an endpoint's usual characters per token below which an answer must hold hidden tokens. Answers of one
model to one prompt differ by a few hundredths where they have 200 tokens."""


_KIND: Final = attrgetter("kind")


@dataclass(frozen=True, slots=True)
class ShownText:
    """The text that the tokens of an answer were shown as, as far as that is known.

    ``samples`` is the beginning of each kind of its text. ``hidden_reasoning``: after how many content events there was
    a sign of reasoning that is not shown. ``raw_reasoning``: whether reasoning is streamed as it is generated (false:
    as a summary), where the stream does not say; None where that is not known. ``usual_density``: the characters per
    token of the endpoint's other answers, by the function of that name.
    """

    samples: Mapping[Kind, str] = field(default_factory=dict)
    hidden_reasoning: Sequence[int] = ()
    raw_reasoning: bool | None = None
    usual_density: float | None = None


@dataclass(frozen=True, slots=True)
class Speed:
    """A decode speed in tokens per second and what it is the speed of, or the reason there is none."""

    tokens_per_s: float | None = None
    withheld: str | None = None
    basis: Literal["output", "answer"] | None = None


@dataclass(frozen=True)
class _SpeedPart:
    """The events a speed is of: all output, or the answer alone; ``tokens`` is their count, None if not known."""

    basis: Literal["output", "answer"]
    contents: Sequence[ContentEvent]
    tokens: int | None

    @cached_property
    def arrived_first(self) -> int:
        """How many events arrived with the first one: those after it that came faster than anything is decoded.

        What a proxy or a compressor hands on in pieces was decoded, as far as its first piece goes, before that came.
        """
        chars: int = sum(map(attrgetter("chars"), self.contents))
        per_char = (self.tokens or 0) / chars
        since, first = 0, self.contents[0].at
        for place, one in enumerate(islice(self.contents, 1, None), start=1):
            since += one.chars
            if since * per_char < (one.at - first) / 1e9 * FASTEST_DECODER:
                return place
        return len(self.contents)

    @property
    def rest(self) -> Sequence[ContentEvent]:
        """What came after the first arrival."""
        return self.contents[self.arrived_first :]

    @property
    def span_ms(self) -> float:
        return (self.contents[-1].at - self.contents[self.arrived_first - 1].at) / 1e6

    @property
    def too_short(self) -> str | None:
        """Why there is too little of it for a speed, if there is."""
        of_it = " of the answer" if self.basis == "answer" else ""
        if len(self.contents) < FEWEST_EVENTS:
            return f"{len(self.contents)} content events{of_it}, fewer than {FEWEST_EVENTS}"
        if (arrivals := 1 + len({one.at for one in self.rest})) < FEWEST_EVENTS:
            return f"{len(self.contents)} content events{of_it} came at {arrivals} instants, fewer than {FEWEST_EVENTS}"
        if self.span_ms < SHORTEST_SPAN_MS:
            return f"{self.basis} spans {self.span_ms:.1f} ms, under {SHORTEST_SPAN_MS:.0f} ms"
        return None


class _Count(NamedTuple):
    """A number of tokens, and by how many it may be wrong (``uncertainty``)."""

    tokens: float
    uncertainty: float


def decode_speed(contents: Sequence[ContentEvent], tokens: Tokens, shown: ShownText | None = None) -> Speed:
    """Decode speed: (n − n_first) / (last content event − first arrival), or why it would be a lie.

    Of all output where its text is what was decoded; else of the answer (its refusals and tool arguments are part of
    it), n then being the output less the reasoning. n_first, the tokens that came with the first event at
    once, is a running count where that can be trusted, else their share of the characters, and at least 1 an event.
    """
    shown = shown or ShownText()
    if any(map(attrgetter("draft"), contents)):
        return Speed(withheld="the whole answer came again and again, in drafts")
    if tokens.source != "usage" or tokens.output is None:
        why = "the provider's token count cannot be true" if tokens.refused else "the provider sent no token count"
        return Speed(withheld=why)
    reasoning = [one for one in contents if one.kind is Kind.REASONING]
    if not reasoning and not tokens.reasoning and (tokens.reasoning == 0 or not shown.hidden_reasoning):
        return _speed(_SpeedPart("output", contents, tokens.output), tokens, shown)
    forms = {shown.raw_reasoning if one.raw is None else one.raw for one in reasoning}
    if not reasoning or shown.hidden_reasoning or False in forms:
        return _of_answer(contents, tokens, shown)
    raw = forms == {True}
    of_all = _of_all(contents, tokens, shown, raw=raw)
    if not tokens.reasoning or (raw and of_all.tokens_per_s is not None):
        return of_all
    of_answer = _of_answer(contents, tokens, shown)
    short = _answer(contents, tokens).too_short
    return of_all if short and of_all.tokens_per_s is not None else of_answer


def usual_density(samples: Iterable[Sample]) -> float | None:
    """The characters per token of an endpoint's answers to one prompt (90 % quantile); None of too few answers.

    The answers with the most characters per token hold the fewest hidden tokens. Answers whose reasoning is counted
    apart are left out: a sample does not say which characters are the answer's.
    """
    known: list[float] = sorted(
        one.output_chars / one.output_tokens
        for one in samples
        if one.outcome is Outcome.OK and one.token_source == "usage" and not one.reasoning_tokens  # noqa: S105
        if one.output_chars and one.output_tokens and one.output_tokens >= USUAL_TOKENS
    )
    return quantile(known, 0.9) if len(known) >= USUAL_ANSWERS else None


def _of_all(contents: Sequence[ContentEvent], tokens: Tokens, shown: ShownText, *, raw: bool) -> Speed:
    """The speed of reasoning and answer together, where they were decoded as they came."""
    if why := _uneven(contents, shown.samples):
        return Speed(withheld=why)
    return _speed(_SpeedPart("output", contents, tokens.output), tokens, shown, MARGIN if raw else UNKNOWN_MARGIN)


def _of_answer(contents: Sequence[ContentEvent], tokens: Tokens, shown: ShownText) -> Speed:
    """The speed of the answer alone, which must have come in one piece."""
    said = [place for place, one in enumerate(contents) if one.kind is not Kind.REASONING]
    thought = [place for place, one in enumerate(contents) if one.kind is Kind.REASONING]
    if said and any(said[0] < place <= said[-1] for place in (*thought, *shown.hidden_reasoning)):
        return Speed(withheld="there was reasoning between parts of the answer")
    return _speed(_answer(contents, tokens), tokens, shown)


def _answer(contents: Sequence[ContentEvent], tokens: Tokens) -> _SpeedPart:
    apart = tokens.output - tokens.reasoning if tokens.output is not None and tokens.reasoning else None
    return _SpeedPart("answer", [one for one in contents if one.kind is not Kind.REASONING], apart)


def _speed(part: _SpeedPart, tokens: Tokens, shown: ShownText, margin: float = MARGIN) -> Speed:
    """The speed of a part whose text bears the count out: with a ``margin`` over what its script lets expect."""
    if why := part.too_short:
        return Speed(withheld=why)
    counted = _decoded(part, tokens)
    if counted is None:
        return Speed(withheld="the reasoning was not shown as it was generated, and is not counted apart")
    decoded = counted.tokens
    if decoded <= 0:
        return Speed(withheld=f"{tokens.output} output tokens, too few")
    if why := _misfit(part.rest, decoded, shown, margin, has_split=bool(tokens.reasoning)):
        return Speed(withheld=why)
    if counted.uncertainty > MOST_UNCERTAIN * decoded:
        words = (
            f"{decoded:.0f} of {part.tokens} tokens came after the first event, give or take {counted.uncertainty:.0f}"
        )
        return Speed(withheld=f"{words}: too few to tell")
    per_s = decoded / part.span_ms * 1000
    if per_s > FASTEST:
        return Speed(withheld=f"{per_s:,.0f} tokens/s cannot be true")
    return Speed(round(per_s, 3), basis=part.basis)


def _misfit(
    contents: Sequence[ContentEvent], decoded: float, shown: ShownText, margin: float, *, has_split: bool
) -> str | None:
    """Why so many tokens cannot be the text of these events; None where they can, or where the text is not known."""
    if not shown.samples:
        return None
    chars = _chars(contents)
    framing = CALL_TOKENS if Kind.TOOL in chars else FRAMING_TOKENS
    density = sum(chars.values()) / decoded
    hidden = "there must be reasoning in the count that was neither shown nor counted apart"
    if decoded > _most(chars, shown.samples) * margin / MARGIN + framing:
        return f"{density:.2f} characters a token are fewer than any tokenizer makes of such text: {hidden}"
    if shown.usual_density is not None and not has_split and density < shown.usual_density * LEAST_OF_USUAL:
        return f"{density:.2f} characters a token where other answers had {shown.usual_density:.2f}: {hidden}"
    if decoded < _fewest(chars, shown.samples):
        return f"{density:.2f} characters a token are more than any tokenizer makes of such text"
    return None


def _decoded(part: _SpeedPart, tokens: Tokens) -> _Count | None:
    """The tokens of a part after its first arrival; None where nobody knows."""
    first, last = part.contents[part.arrived_first - 1], part.contents[-1]
    if first.tokens is not None and last.tokens is not None and _is_complete(last.tokens, part, tokens):
        return _Count(last.tokens - first.tokens, 0)
    if part.tokens is None:
        return None
    framing = CALL_TOKENS if Kind.TOOL in map(_KIND, part.contents) else 0
    if first.tokens is not None and first.tokens >= (tokens.reasoning or 0) and last.tokens is None:
        return _Count(float((tokens.output or 0) - max(first.tokens, part.arrived_first)), max(1, framing))
    events, more = len(part.contents), part.tokens - len(part.contents)
    if 0 <= more <= max(1, events * FEW_MORE):  # a token an event, but for a few; one may be the end of the answer
        return _Count(part.tokens - part.arrived_first, max(min(more, _share_uncertainty(part.arrived_first)), framing))
    chars: int = sum(map(attrgetter("chars"), part.contents))
    rest: int = sum(map(attrgetter("chars"), part.rest))
    share = min(part.tokens * rest / chars, part.tokens - part.arrived_first)
    return _Count(share, max(_share_uncertainty(part.tokens - share), framing))


def _share_uncertainty(first: float) -> float:
    """By how many tokens an estimate of those that came first may be wrong, and with it that of the rest."""
    return max(1.0, SHARE_UNCERTAINTY * math.sqrt(first))


def _is_complete(running: int, part: _SpeedPart, tokens: Tokens) -> bool:
    """Whether a running count at the last content event is that of all output, or of all of the part."""
    return any(whole is not None and whole - LAG_TOKENS <= running <= whole for whole in (tokens.output, part.tokens))


def _most(chars: Mapping[Kind, int], samples: Mapping[Kind, str]) -> float:
    """The most tokens that so many characters can be, each kind of text being like its sample."""
    return _tokens(chars, samples, most_tokens)


def _fewest(chars: Mapping[Kind, int], samples: Mapping[Kind, str]) -> float:
    """The fewest tokens that they can be."""
    return _tokens(chars, samples, fewest_tokens)


def _tokens(chars: Mapping[Kind, int], samples: Mapping[Kind, str], bound: Callable[[str], float]) -> float:
    return sum(count * bound(samples[kind]) / len(samples[kind]) for kind, count in chars.items() if samples.get(kind))


def _chars(contents: Sequence[ContentEvent]) -> dict[Kind, int]:
    """The characters of each kind of text."""
    return {kind: sum(one.chars for one in contents if one.kind is kind) for kind in set(map(_KIND, contents))}


def _uneven(contents: Sequence[ContentEvent], samples: Mapping[Kind, str]) -> str | None:
    """Why reasoning and the answer after it cannot have been decoded as they came, if they cannot."""
    place = next((place for place, one in enumerate(contents) if one.kind is not Kind.REASONING), len(contents))
    reasoning, answer = contents[:place], contents[place:]
    if not samples or not reasoning or len(answer) < FEWEST_EVENTS:
        return None
    before_ns, answer_ns = answer[0].at - reasoning[0].at, answer[-1].at - answer[0].at
    if answer_ns < SHORTEST_SPAN_MS * 1e6:
        return None
    thought, said = _most(_chars(reasoning), samples) * answer_ns, _most(_chars(answer[1:]), samples) * before_ns
    if thought <= PACE * said and said <= PACE * thought:
        return None
    return "the reasoning came at another pace than the answer, as a summary does"

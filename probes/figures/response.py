"""Accumulates what the events of one response say (text, usage, finish reason, failure) while a probe reads it."""

from dataclasses import dataclass, field, fields, replace
from typing import Final, TypeVar

from probes.events import (
    Event,
    Failure,
    Finish,
    HiddenReasoning,
    Kind,
    Output,
    Queued,
    ServedBy,
    ServerTimes,
    StreamEnd,
    Usage,
    raw_reasoning,
)
from probes.figures.think_tags import ThinkTags
from probes.figures.timeline import ContentEvent, Timeline
from probes.figures.token_bounds import SAMPLED_CHARS
from probes.text import plain

TEXT_LIMIT: Final = 256 * 1024
"""Characters of an answer that are kept; what comes after them is counted and dropped."""

REFUSAL_LIMIT: Final = 2_000
"""Characters of a refusal kept."""


@dataclass(slots=True)
class ResponseAccumulator:
    """Everything the events of one response have said; of a field that came several times the newest value stands.

    - ``failure``: the first error, after which nothing else counts.
    - ``complete``: a finish reason has come, and no output after it; ``ended``: so has the terminal marker, with
      ``note`` where something was missing there.
    - ``finish_words``: how the provider explains the finish reason; ``refusal``: what was said in place of an answer.
    - ``keep_alives``: signs of life from a queue; ``chars``: characters of output, ``reasoning_chars``: of reasoning.
    - ``samples``: the first characters of each kind of output, which show its script (`probes.figures.token_bounds`).
    - ``hidden_reasoning``: after how many content events there was a sign of reasoning that is not shown.
    """

    usage: Usage | None = None
    times: ServerTimes = field(default_factory=ServerTimes)
    served: ServedBy = field(default_factory=ServedBy)
    finish: str | None = None
    finish_words: str = ""
    refusal: str = ""
    complete: bool = False
    note: str = ""
    failure: Failure | None = None
    ended: bool = False
    keep_alives: int = 0
    chars: int = 0
    reasoning_chars: int = 0
    kinds: set[Kind] = field(default_factory=set)
    samples: dict[Kind, str] = field(default_factory=dict)
    hidden_reasoning: list[int] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _answer_chars: int = 0
    _tags: ThinkTags = field(default_factory=ThinkTags, compare=False)

    @property
    def text(self) -> str:
        """The answer text, plain, at most `TEXT_LIMIT` characters; reasoning and tool arguments are not in it."""
        return plain("".join(self._parts))

    @property
    def is_over(self) -> bool:
        """Whether nothing that may still come can matter."""
        return self.ended or self.failure is not None

    def add(self, event: Event, at: int, timeline: Timeline, uncertainty_ns: int | None = None) -> Output | None:
        """Take in one event that came ``at`` (monotonic ns) and put output on the timeline.

        Returns the output, if it was any, which is progress. Reasoning that was sent as answer text is recognised by
        its tags (`ThinkTags`) and returned as reasoning.
        """
        if self.is_over:
            return None
        match event:
            case Output():
                output = self._add_output(event, timeline)
                kind, text, tokens, draft, raw = output
                timeline.contents.append(ContentEvent(at, kind, len(text), tokens, draft, uncertainty_ns, raw))
                self.complete = False
                return output
            case Usage():
                self.usage = _updated(self.usage or Usage(), event)
            case ServerTimes():
                self.times = _updated(self.times, event)
            case ServedBy():
                first_id = self.served.request_id or event.request_id
                self.served = replace(_updated(self.served, event), request_id=first_id)
            case Queued():
                self.keep_alives += 1
            case HiddenReasoning():
                self.hidden_reasoning.append(len(timeline.contents))
            case Finish(reason=reason, words=words):
                self.finish, self.finish_words, self.complete = reason, words, True
            case Failure():
                self.failure = event
            case StreamEnd(note=note):
                self.ended, self.note = True, note
                timeline.end = at
        return None

    def _add_output(self, output: Output, timeline: Timeline) -> Output:
        """Keep the text of an output. Returns it, marked as reasoning where think tags show that it is nothing else."""
        if output.draft:
            self._drop_answer()
        if output.kind is not Kind.ANSWER or output.draft:
            self._keep(output.kind, output.text)
            return output
        split = self._tags.split(output.text)
        if split.all_before:
            self._relabel_answer(timeline)
        if split.reasoning:
            self._keep(Kind.REASONING, split.reasoning)
        if split.answer:
            self._keep(Kind.ANSWER, split.answer)
            return output
        return output._replace(kind=Kind.REASONING, raw=raw_reasoning(self.served.model))

    def _relabel_answer(self, timeline: Timeline) -> None:
        """Turn everything that passed for the answer so far into reasoning."""
        for place, one in enumerate(timeline.contents):
            if one.kind is Kind.ANSWER:
                timeline.contents[place] = one._replace(kind=Kind.REASONING, raw=raw_reasoning(self.served.model))
                self.kinds.add(Kind.REASONING)
        self.kinds.discard(Kind.ANSWER)
        self.samples[Kind.REASONING] = self.samples.get(Kind.REASONING, "") + self.samples.pop(Kind.ANSWER, "")
        self.reasoning_chars += self._answer_chars
        self._parts.clear()
        self._answer_chars = 0

    def _keep(self, kind: Kind, text: str) -> None:
        """Count a text, and keep as much of it as its kind is kept of."""
        self.chars += len(text)
        self.kinds.add(kind)
        if len(sample := self.samples.get(kind, "")) < SAMPLED_CHARS:
            self.samples[kind] = sample + text[: SAMPLED_CHARS - len(sample)]
        if kind is Kind.ANSWER:  # first: nearly every event of a fast stream is one
            if self._answer_chars < TEXT_LIMIT:
                self._parts.append(text[: TEXT_LIMIT - self._answer_chars])
            self._answer_chars += len(text)
        elif kind is Kind.REASONING:
            self.reasoning_chars += len(text)
        elif kind is Kind.REFUSAL:
            self.refusal = (self.refusal + text)[:REFUSAL_LIMIT]

    def _drop_answer(self) -> None:
        """Drop the answer so far: a draft takes its place."""
        self.chars -= self._answer_chars
        self._answer_chars = 0
        self._parts.clear()


Fact = TypeVar("Fact", Usage, ServerTimes, ServedBy)


def _updated(old: Fact, new: Fact) -> Fact:
    """``old``, with the value of every field that is not None in ``new``."""
    known = {one.name: value for one in fields(new) if (value := getattr(new, one.name)) is not None}
    return replace(old, **known)

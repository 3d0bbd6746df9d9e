"""Answer: what one response's events have told so far, gathered while a probe reads."""

from dataclasses import dataclass, field, fields, replace
from typing import Final, TypeVar

from probes.marks import Content, Marks
from probes.text import plain
from probes.wire.dialect import End, Event, Finish, Kind, Output, Queued, Served, ServerTimes, Trouble, Usage

TEXT_LIMIT: Final = 256 * 1024
"""Characters of answer kept; what comes after is counted and let go."""


@dataclass(slots=True)
class Answer:
    """Everything a stream said, newest word per field winning; ``trouble`` is the first one, and final."""

    usage: Usage | None = None
    times: ServerTimes = field(default_factory=ServerTimes)
    served: Served = field(default_factory=Served)
    finish: str | None = None
    trouble: Trouble | None = None
    ended: bool = False
    keep_alives: int = 0
    chars: int = 0
    reasoning_chars: int = 0
    kinds: set[Kind] = field(default_factory=set)
    _parts: list[str] = field(default_factory=list)
    _answered: int = 0

    @property
    def text(self) -> str:
        """The answer text, plain, at most `TEXT_LIMIT` characters; reasoning and tool arguments are not in it."""
        return plain("".join(self._parts))

    @property
    def is_over(self) -> bool:
        """Whether nothing that may still come can matter."""
        return self.ended or self.trouble is not None

    def take(self, event: Event, at: int, marks: Marks, doubt: int | None = None) -> bool:
        """Take one event that came at ``at`` (ns) into account; true where it was output, that is progress."""
        if self.is_over:
            return False
        match event:
            case Output(kind=kind, text=text, tokens=tokens, draft=draft):
                marks.contents.append(Content(at, kind, len(text), tokens, draft, doubt))
                if draft:
                    self._forget()
                self._keep(kind, text)
                return True
            case Usage():
                self.usage = _newer(self.usage or Usage(), event)
            case ServerTimes():
                self.times = _newer(self.times, event)
            case Served():
                first_id = self.served.request_id or event.request_id
                self.served = replace(_newer(self.served, event), request_id=first_id)
            case Queued():
                self.keep_alives += 1
            case Finish(reason=reason):
                self.finish = reason
            case Trouble():
                self.trouble = event
            case End():
                self.ended = True
                marks.end = at
        return False

    def _keep(self, kind: Kind, text: str) -> None:
        self.chars += len(text)
        self.kinds.add(kind)
        if kind is Kind.REASONING:
            self.reasoning_chars += len(text)
        if kind is Kind.ANSWER:
            if self._answered < TEXT_LIMIT:
                self._parts.append(text[: TEXT_LIMIT - self._answered])
            self._answered += len(text)

    def _forget(self) -> None:
        """Let go of the answer so far: what comes now takes its place."""
        self.chars -= self._answered
        self._answered = 0
        self._parts.clear()


Fact = TypeVar("Fact", Usage, ServerTimes, Served)


def _newer(old: Fact, new: Fact) -> Fact:
    """``old`` with every field that ``new`` knows."""
    known = {one.name: value for one in fields(new) if (value := getattr(new, one.name)) is not None}
    return replace(old, **known)

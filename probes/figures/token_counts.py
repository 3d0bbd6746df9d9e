"""How many tokens had come with each event of a stream, and by how many that may be wrong; pure."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import attrgetter, le
from typing import Final

from probes.events import Kind
from probes.figures.timeline import ContentEvent

FEW_MORE: Final = 1
"""Where every event is one token, the count has so many more at most: the end of an answer is a token too."""

SHARE_UNCERTAINTY: Final = 0.7
"""Times √n: the tokens of a text that are a share of the characters are wrong by less, as a rule. So it was for nine of
ten answers in prose, reasoning, code, JSON, tables and LaTeX, in six languages and two tokenizers."""

CALL_TOKENS: Final = 40
"""Tokens of an answer with a tool's call that are in no text: also its name, and what stands around its arguments."""

LAG_TOKENS: Final = 2
"""By so many a running count may be below the whole at the last content event: the end of the answer is a token too."""

TOKEN_LIKE: Final = 0.95
"""Of a stream's events so many are single words, parts of words, numbers or marks where each is one token. Of chunks of
two tokens at most 0.6 are, of whole words 0.9: those at the ends of clauses have their comma with them."""

LEAST_CHARS: Final = 2.5
"""Characters an event, on average; a gateway that hands an answer on letter by letter has fewer."""

LOOKED_AT: Final = 200
"""Events whose text is looked at."""

_ONE_TOKEN: Final = re.compile(r"\s*[A-Za-z0-9_À-ӿ]{1,16}\s*|\s*[!-/:-@\[-`{-~–—‘’“”…]{1,8}\s*|\s+")
"""Scripts with blanks between words; in others nothing shows where a token ends."""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The tokens that had come with each event; ``before`` those that the first event is known to have brought, else 0.

    Whatever part is looked at, its count may be wrong by ``fixed`` tokens; and, where counts are shares of the
    characters, by ``noise`` × √n of the n tokens before it and of those after it.
    """

    upto: Sequence[float]
    before: float = 0.0
    fixed: float = 0.0
    noise: float = 0.0

    def uncertainty(self, first: int, last: int) -> float:
        """By how many tokens the count of what came after event ``first`` and up to event ``last`` may be wrong."""
        outside = self.upto[first] - self.before, self.upto[-1] - self.upto[last]
        shares = self.noise * sum(math.sqrt(max(0.0, one)) for one in outside)
        return max(self.fixed, shares) if self.noise else self.fixed


@dataclass(frozen=True, slots=True)
class StreamPart:
    """The events that a speed is of, and what is known of their tokens.

    ``tokens`` is their count, None if not known; ``whole`` that of all output, ``reasoning`` of the reasoning in it.
    ``samples`` is the beginning of each kind of text; ``may_end``: the count may hold a token of the answer's end.
    """

    contents: Sequence[ContentEvent]
    tokens: int | None
    whole: int
    reasoning: int
    samples: Mapping[Kind, str]
    may_end: bool

    @property
    def has_call(self) -> bool:
        """Whether there is a tool's call in it."""
        return any(one.kind is Kind.TOOL for one in self.contents)

    def counts(self) -> TokenCounts | None:
        """The tokens that had come with each event; None where nobody knows.

        By the provider's running count where it sends one that ends at its own total; one an event where there are as
        many events as tokens, or each event is a token by its text; else each event's share of the characters.
        """
        running = list(map(attrgetter("tokens"), self.contents))
        first, last = running[0], running[-1]
        if first is not None and last is not None and self._is_complete(last):
            if None not in running and all(map(le, running, running[1:])):
                return TokenCounts(running, before=first)
            return replace(self._shares(last, first), fixed=0.0)
        if self.tokens is None:
            return None
        if first is not None and first >= self.reasoning and last is None:
            return self._shares(self.whole, max(first, 1))
        more = self.tokens - len(self.contents)
        is_one_each = more > 0 and self.is_token_by_token
        if is_one_each or 0 <= more <= FEW_MORE:
            return TokenCounts(range(1, len(self.contents) + 1), fixed=0.0 if is_one_each else float(more))
        return self._shares(self.tokens)

    @property
    def is_token_by_token(self) -> bool:
        """Whether each event is a token by its text, whatever the count."""
        left, fitting, seen = dict(self.samples), 0, 0
        if sum(map(attrgetter("chars"), self.contents)) < LEAST_CHARS * len(self.contents):
            return False
        for one in self.contents[:LOOKED_AT]:
            text = left.get(one.kind, "")
            if len(text) < one.chars:
                break
            left[one.kind] = text[one.chars :]
            seen += 1
            fitting += _ONE_TOKEN.fullmatch(text, 0, one.chars) is not None
        return seen >= min(len(self.contents), LOOKED_AT // 4) and fitting >= TOKEN_LIKE * seen

    def _shares(self, tokens: float, first: int | None = None) -> TokenCounts:
        """Each event's share of the characters; of all but the first event's where its tokens are known."""
        chars = list(map(attrgetter("chars"), self.contents))
        before = 0.0 if first is None else float(first)
        if first is not None:
            chars[0] = 0
        end = 0.5 if self.may_end else 0.0
        each = (tokens - end - before) / max(1, sum(chars))
        upto = [before + one * each for one in accumulate(chars)]
        fixed = max(1.0, CALL_TOKENS if self.has_call else 0.0)
        return TokenCounts(upto, before, fixed, SHARE_UNCERTAINTY)

    def _is_complete(self, running: int) -> bool:
        """Whether a running count at the last content event is that of all output, or of all of the part."""
        return any(whole is not None and whole - LAG_TOKENS <= running <= whole for whole in (self.whole, self.tokens))

"""The rate limits in response headers: buckets, resets and retry hints, whatever provider's family they are of."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from probes.rate_limits.bucket import LONGEST_SCOPE, UPSTREAM, Bucket, Direction, Measure, amount_of
from probes.rate_limits.windows import WINDOWS_S

LONGEST_RESET_S: Final = 400 * 86400.0
"""Longest reset and wait that are believed: a header with more was misread or is hostile."""

CLOCKS_AGREE_S: Final = 5.0
"""How far our clock may be from a response's ``Date``, which is cut to whole seconds and was sent a moment ago."""

UPSTREAM_PREFIX: Final = "llm_provider-"
"""What LiteLLM puts before the names of its provider's headers when it passes them on (litellm issue 21553)."""

MESSAGE_LIMIT: Final = 2000
"""Characters of an error's message that are searched."""

_LONGEST_LIST: Final = 256
"""Characters that are read of a Retry-After that was sent more than once."""

_Place = tuple[Measure, str | None, Direction | None]
"""Which bucket of a response: what it counts, its scope, its direction."""

# Every header family is the same words in another order: x-ratelimit-limit-requests (OpenAI, Groq, SambaNova),
# -tokens-minute (Cerebras), -req-minute (Mistral), -tokens-prompt (Fireworks), no measure at all (Together,
# OpenRouter), x-tokenlimit-remaining-dynamic (Together), anthropic-ratelimit-input-tokens-reset.
_FAMILY: Final = re.compile(
    r"(?:x-)?(ratelimitbysize|ratelimit|tokenlimit)-(.+)|anthropic-(?:ratelimit|(priority|fast))-(.+)"
)
_FIELDS: Final = frozenset({"limit", "remaining", "reset"})
_MEASURES: Final[Mapping[str, Measure]] = {
    "requests": "requests",
    "request": "requests",
    "req": "requests",
    "tokens": "tokens",
    "token": "tokens",
}
_DIRECTIONS: Final[Mapping[str, Direction]] = {
    "input": "input",
    "prompt": "input",
    "output": "output",
    "generated": "output",
}
_VARIANTS: Final = frozenset({"dynamic", "cache", "adjusted", "usage", "based", "priority", "fast"})

_UNITS_S: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = r"(\d{1,12}(?:\.\d{1,12})?)(ns|us|µs|ms|s|m|h|d)"
_DURATION: Final = re.compile(rf"(?:{_PART})+", re.ASCII)
_HINT: Final = re.compile(
    rf"(?:try again|retry|wait)(?: in| after)? ((?:{_PART})+(?!\w)|\d{{1,12}} (?:seconds?|minutes?|hours?)\b)",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The rate limits of one response. ``retry_after_s`` on a success is only a hint (Together).

    ``over_limit``: served above the limit and maybe slowed for it (Fireworks), which is not a rate-limit hit.
    """

    buckets: tuple[Bucket, ...] = ()
    retry_after_s: float | None = None
    over_limit: bool = False

    def tightest(self, kind: Measure) -> Bucket | None:
        """The bucket of that kind with the least headroom; one without a known headroom only where no other is.

        Of equals, one with a reset: Mistral sends the same limit twice, once with its reset.
        """

        def ease(one: Bucket) -> tuple[float, bool]:
            return (math.inf if one.headroom is None else one.headroom, one.reset_s is None)

        return min((one for one in self.buckets if one.kind == kind), key=ease, default=None)

    def over(self, windows: Mapping[str, str]) -> "RateLimits":
        """The same, with these windows by measure where the headers name none (Groq: requests are per day)."""
        named = (
            replace(one, scope=windows[one.kind]) if one.scope is None and one.kind in windows else one
            for one in self.buckets
        )
        return replace(self, buckets=tuple(named))


def rate_limits(headers: Mapping[str, str], now_epoch_s: float) -> RateLimits:
    """The rate limits in ``headers`` (names in lower case), read at ``now_epoch_s`` seconds since the epoch.

    Headers of its provider that a gateway passes on under other names (LiteLLM) count beside the gateway's own: the
    longer wait is taken, and a bucket of the provider's that differs is added with the scope `UPSTREAM`.
    """
    now = _server_time(headers, now_epoch_s)
    upstream = {
        name.removeprefix(UPSTREAM_PREFIX): value for name, value in headers.items() if name.startswith(UPSTREAM_PREFIX)
    }
    found, passed_on = _fields_by_bucket(headers), _fields_by_bucket(upstream)
    for place, fields in passed_on.items():
        own = found.get(place, {})
        if any(own.get(name, value) != value for name, value in fields.items()):
            kind, scope, direction = place
            place = (kind, f"{scope or ''}{UPSTREAM}".strip(), direction)
            own = {}
        found[place] = {**fields, **own}
    buckets = [_bucket(*place, fields, now) for place, fields in found.items()]
    waits = [wait for one in (headers, upstream) if (wait := _retry_after(one, now)) is not None]
    over = headers.get("x-ratelimit-over-limit", "").strip().lower()
    return RateLimits(
        tuple(one for one in buckets if one is not None), max(waits, default=None), over in {"yes", "true", "1"}
    )


def parse_reset(text: str, now_epoch_s: float) -> float | None:
    """Seconds from ``now_epoch_s`` until the instant, or over the duration, that ``text`` names; None for neither.

    Understands Go durations (``1m26.4s``, ``637ms``), plain seconds, RFC 3339, HTTP dates, and epochs in seconds or
    milliseconds (a plain number too large to be a wait). An instant that has passed is 0.
    """
    text = text.strip()
    if not text or len(text) > 64:
        return None
    seconds = _duration(text)
    if seconds is None:
        seconds = _plain_number(text, now_epoch_s)
    if seconds is None and (instant := _instant(text)) is not None:
        seconds = max(0.0, instant - now_epoch_s)
    return seconds if seconds is not None and 0 <= seconds <= LONGEST_RESET_S else None


def retry_hint(message: str) -> float | None:
    """The wait in an error's message, seconds: "try again in 7.66s" (Groq, OpenAI), "retry after 6 seconds" (Azure)."""
    hit = _HINT.search(message[:MESSAGE_LIMIT])
    if hit is None:
        return None
    amount, _, unit = hit[1].lower().partition(" ")
    return parse_reset(amount + unit[:1], 0.0)


def _place(name: str) -> tuple[Measure, str | None, Direction | None, str] | None:
    """Which bucket, and which field of it, a header is about; None for headers that are about none."""
    family = _FAMILY.fullmatch(name)
    if family is None:
        return None
    words = re.split("[-_]", family[2] or family[4])
    if family[3]:
        words.append(family[3])
    fields = [one for one in words if one in _FIELDS]
    rest = [one for one in words if one not in _FIELDS]
    scopes = [one for one in rest if one in WINDOWS_S or one in _VARIANTS]
    directions = [_DIRECTIONS[one] for one in rest if one in _DIRECTIONS]
    measures = [_MEASURES[one] for one in rest if one in _MEASURES]
    if len(fields) != 1 or len(scopes) + len(directions) + len(measures) != len(rest):
        return None  # it means something else: x-ratelimit-over-limit, ratelimitbysize-query-cost
    scope = " ".join(scopes)
    if len(scope) > LONGEST_SCOPE:
        return None
    usual: Measure = "tokens" if family[1] in {"tokenlimit", "ratelimitbysize"} else "requests"
    return (
        measures[0] if measures else usual,
        scope or None,
        directions[0] if directions else None,
        fields[0],
    )


def _fields_by_bucket(headers: Mapping[str, str]) -> dict[_Place, dict[str, str]]:
    """The fields ("limit", "remaining", "reset") that the headers have for each bucket, in their order."""
    found: dict[_Place, dict[str, str]] = {}
    for name, value in headers.items():
        if placed := _place(name):
            kind, scope, direction, field = placed
            found.setdefault((kind, scope, direction), {})[field] = value
    return found


def _server_time(headers: Mapping[str, str], now_epoch_s: float) -> float:
    """The time to count a server's instants from: its own ``Date`` where that is far from our clock, else our clock."""
    date = _instant(headers.get("date", "")) if "date" in headers else None
    return now_epoch_s if date is None or abs(date - now_epoch_s) <= CLOCKS_AGREE_S else date


def _bucket(
    kind: Measure,
    scope: str | None,
    direction: Direction | None,
    values: Mapping[str, str],
    now_epoch_s: float,
) -> Bucket | None:
    limit, remaining = (amount_of(values.get(field, "")) for field in ("limit", "remaining"))
    if limit is not None and limit < 0:
        return None  # Azure: -1 is "no such limit", and its remaining means nothing
    if remaining is not None and remaining < 0:
        remaining = None
    reset_s = parse_reset(values.get("reset", ""), now_epoch_s)
    if limit is None and remaining is None and reset_s is None:
        return None
    return Bucket(kind, scope, direction, limit, remaining, reset_s)


def _retry_after(headers: Mapping[str, str], now_epoch_s: float) -> float | None:
    exact = amount_of(headers.get("retry-after-ms", ""))  # OpenAI's, finer than the standard one
    if exact is not None and 0 <= exact / 1000 <= LONGEST_RESET_S:
        return exact / 1000
    text = headers.get("retry-after", "")
    if (wait := parse_reset(text, now_epoch_s)) is not None:
        return wait
    # a gateway's own and its provider's, joined by a comma (RFC 9110 §5.3): take the longest
    waits = (parse_reset(one, now_epoch_s) for one in text[:_LONGEST_LIST].split(","))
    return max((one for one in waits if one is not None), default=None)


def _duration(text: str) -> float | None:
    if not _DURATION.fullmatch(text):
        return None
    return math.fsum(float(amount) * _UNITS_S[unit] for amount, unit in re.findall(_PART, text))


def _plain_number(text: str, now_epoch_s: float) -> float | None:
    value = amount_of(text)
    if value is None or value < 1e9:
        return value
    return max(0.0, (value / 1000 if value >= 1e11 else value) - now_epoch_s)


def _instant(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # slow to import, and hardly any provider sends an HTTP date

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None

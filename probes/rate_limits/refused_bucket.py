"""Which rate-limit bucket refused a request, by the message of the refusal or else by its headers; pure."""

import re
from typing import Final, NamedTuple

from probes.rate_limits.bucket import Bucket
from probes.rate_limits.headers import MESSAGE_LIMIT, RateLimits
from probes.rate_limits.limit_names import DIRECTIONS, WINDOW_WORDS

_WINDOW: Final = r"(second|sec|minute|min|hour|day|month)"
_PLAIN: Final = re.compile(
    r"(?:\b(input|prompt|output|completion|generated) )?\b(request|token)s?\b(?: limit| per model| per project)?"
    rf"(?: per | a |/){_WINDOW}\b"
)
"""``Tokens per minute limit exceeded`` (Cerebras), ``30,000 input tokens per minute`` (Anthropic), and a quota id of
Gemini's once its words are apart: ``generate content input tokens per model per minute``."""

_SHORT: Final = re.compile(r"\b([IO])?([RT])P([SMHD])\b")
"""``on tokens per min (TPM)`` (OpenAI, Groq), ``max RPM: 20`` (Kimi)."""

_AT_ONCE: Final = re.compile(r"concurren(?:cy|t)")
"""``max concurrency: 3`` (Kimi), ``concurrent connections`` (Anthropic)."""

_TOKENS: Final = re.compile(
    r"(?:\b(input|prompt|output|completion|generated) )?(?<!access )(?<!auth )(?<!api )(?<!bearer )\btokens?\b"
)
"""``Number of request tokens has exceeded your per-minute rate limit`` (Anthropic), ``exceeded token rate limit of your
current tier`` (Azure), ``Too many tokens, please wait`` (Bedrock), ``… (tokens)`` (OpenAI's and Groq's type)."""

_REQUESTS: Final = re.compile(
    r"\bcall rate|\brequests? (?:rate|limit|quota)|number of requests|\brequests per|\bqueries\b"
    r"|\btype: requests|\(requests\)"
)
"""Nearly every refusal has the word request in it; these phrases have it as what is counted."""

_SPAN: Final = re.compile(rf"(?:\bper |\ba |\bby |\beach |/){_WINDOW}\b|\b(hourly|daily|monthly)\b")
"""``your per-minute rate limit`` (Anthropic), ``free-models-per-day`` (OpenRouter), ``UserByModelByDay`` (GitHub)."""

_OFFER: Final = re.compile(r"\b(?:upgrade|need more|add \d+ credits|to unlock|to increase)\b", re.IGNORECASE)
"""``Add 10 credits to unlock 1000 free model requests per day`` (OpenRouter): what follows is not about the refusal."""

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

_SHORT_KINDS: Final = {"R": "requests", "T": "tokens"}
_SHORT_WINDOWS: Final = {"S": "second", "M": "minute", "H": "hour", "D": "day"}


class NamedLimit(NamedTuple):
    """The limit that a refusal names: what is counted, in which direction, over which window; None where not named."""

    kind: str | None = None
    direction: str | None = None
    window: str | None = None

    def __str__(self) -> str:
        counted = f"{self.direction} {self.kind}" if self.direction else self.kind or "limit"
        return f"{counted} per {self.window}" if self.window else counted


def named_limit(message: str) -> NamedLimit:
    """The limit that the message of a refusal names: in one phrase if possible, else put together from its words."""
    message = _OFFER.split(message[:MESSAGE_LIMIT])[0] or message[:MESSAGE_LIMIT]
    apart = re.sub("[-_]", " ", _CAMEL.sub(" ", message)).lower()
    if plain := _PLAIN.search(apart):
        return NamedLimit(f"{plain[2]}s", DIRECTIONS.get(plain[1] or ""), WINDOW_WORDS[plain[3]])
    if short := _SHORT.search(message):
        direction = {"I": "input", "O": "output"}.get(short[1] or "")
        return NamedLimit(_SHORT_KINDS[short[2]], direction, _SHORT_WINDOWS[short[3]])
    if _AT_ONCE.search(apart):
        return NamedLimit("concurrent requests")
    span = _SPAN.search(apart)
    window = WINDOW_WORDS[span[1] or span[2]] if span else None
    if tokens := _TOKENS.search(apart):
        return NamedLimit("tokens", DIRECTIONS.get(tokens[1] or ""), window)
    return NamedLimit("requests" if _REQUESTS.search(apart) else None, None, window)


def limited_by(message: str, limits: RateLimits | None) -> str | None:
    """The bucket that caused a rate-limit hit, in the words of `headers.Bucket.words`; None where not known.

    What the provider's ``message`` leaves open is taken from the headers, but only where a bucket that agrees with the
    message is empty: a refusal for more tokens than are left leaves no empty bucket.
    """
    words = named_limit(message)
    empty = [one for one in limits.buckets if one.remaining == 0 and _agrees(one, words)] if limits else []
    if words.kind and words.window:
        return str(words)
    found = max(empty, key=lambda one: one.reset_s or 0.0, default=None)
    if found is None:
        return str(words) if words != NamedLimit() else None
    if words.window and found.scope is None:
        return str(NamedLimit(found.kind, found.direction, words.window))
    return found.words


def _agrees(bucket: Bucket, words: NamedLimit) -> bool:
    """Whether a bucket may be the limit that the message names."""
    window = (bucket.scope or "").partition(" ")[0]
    return (
        words.kind in (None, bucket.kind)
        and words.direction in (None, bucket.direction)
        and (words.window is None or bucket.scope is None or window == words.window)
    )

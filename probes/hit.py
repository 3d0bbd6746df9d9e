"""Hit: which rate-limit bucket refused a request, by the words of the refusal or else by its headers; pure."""

import re
from typing import Final

from probes.ratelimit import RateLimits

_DIRECTIONS: Final = {
    "input": "input ",
    "prompt": "input ",
    "output": "output ",
    "completion": "output ",
    "generated": "output ",
}
_PLAIN: Final = re.compile(
    r"(?:\b(input|prompt|output|completion|generated) )?\b(request|token)s?\b(?: limit| per model| per project)?"
    r"(?: per | a |/)(second|minute|min|hour|day|month)\b"
)
"""``Tokens per minute limit exceeded`` (Cerebras), ``30,000 input tokens per minute`` (Anthropic), and a quota id of
Gemini's once its words are apart: ``generate content input tokens per model per minute``."""

_SHORT: Final = re.compile(r"\b([IO])?([RT])P([SMHD])\b")
"""``on tokens per min (TPM)`` (OpenAI, Groq), ``max RPM: 20`` (Kimi)."""

_AT_ONCE: Final = re.compile(r"concurren(?:cy|t)")
"""``max concurrency: 3`` (Kimi), ``concurrent connections`` (Anthropic)."""

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAMED: Final = re.compile(r"\((request|token)s\)$")
"""The error's type at the end of its detail: ``… (tokens)`` (OpenAI, Groq)."""

_SHORT_KINDS: Final = {"R": "requests", "T": "tokens"}
_SHORT_WINDOWS: Final = {"S": "second", "M": "minute", "H": "hour", "D": "day"}


def limited_by(detail: str, limits: RateLimits | None) -> str | None:
    """The bucket a rate-limit hit was caused by, in the words of `probes.ratelimit.Bucket.words`; None: not known.

    ``detail`` is the refusal in the provider's words. Where it names no bucket, the headers decide, but only where
    one bucket is empty: a refusal for more tokens than are left leaves no such trace.
    """
    apart = _CAMEL.sub(" ", detail[:2000]).lower()
    if plain := _PLAIN.search(apart):
        window = "minute" if plain[3] == "min" else plain[3]
        return f"{_DIRECTIONS.get(plain[1] or '', '')}{plain[2]}s per {window}"
    if short := _SHORT.search(detail):
        direction = {"I": "input ", "O": "output "}.get(short[1] or "", "")
        return f"{direction}{_SHORT_KINDS[short[2]]} per {_SHORT_WINDOWS[short[3]]}"
    if _AT_ONCE.search(apart):
        return "concurrent requests"
    empty = [one for one in limits.buckets if one.remaining == 0] if limits else []
    if named := _NAMED.search(apart):
        kind = f"{named[1]}s"
        return next((one.words for one in empty if one.kind == kind), kind)
    return max(empty, key=lambda one: one.reset_s or 0.0).words if empty else None

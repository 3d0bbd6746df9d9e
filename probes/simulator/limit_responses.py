"""How each provider tells of its rate limits: the headers of any response, and the whole response to a refused request.

By the documents and clients that `probes/config/presets.toml` names of each provider, and by captures.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from probes.simulator.limiter import Admission, BucketLevel
from probes.simulator.script import Head

LimitStyle = Literal[
    "none",
    "openai",
    "groq",
    "cerebras",
    "kimi",
    "mistral",
    "openrouter",
    "together",
    "fireworks",
    "sambanova",
    "anthropic",
    "anthropic_fast",
]


def limit_headers(style: LimitStyle, admission: Admission) -> dict[str, str]:
    """The rate-limit headers of a response, served or refused; empty for providers that send none."""
    headers_of = _HEADERS.get(style)
    return {} if headers_of is None else headers_of(admission.requests, admission.tokens)


def openai_rate_limit_response(style: LimitStyle, admission: Admission) -> Head:
    """The 429 of OpenAI and its look-alikes: its headers, ``retry-after`` where the provider sends it, and its body."""
    wait_s = math.ceil(admission.retry_after_s)
    headers = {"content-type": "application/json", **limit_headers(style, admission)}
    if style not in _WITHOUT_RETRY_AFTER:
        headers["retry-after"] = str(wait_s)
    if style == "openai":
        headers["retry-after-ms"] = str(math.ceil(admission.retry_after_s * 1000))
    if style == "openrouter":  # its 429 alone carries limit headers, with an epoch in milliseconds
        level = admission.requests or admission.tokens or BucketLevel(0, 0, 0.0)
        headers |= {
            "X-RateLimit-Limit": str(level.limit),
            "X-RateLimit-Remaining": str(level.remaining),
            "X-RateLimit-Reset": str(int((time.time() + level.reset_s) * 1000)),
        }
    message = f"Rate limit reached for {admission.refused_by}. Please try again in {go_duration(wait_s)}."
    return Head(0.0, 429, headers, json.dumps(_refusal_body(style, admission, message)).encode())


def go_duration(seconds: float) -> str:
    """Seconds as Go prints a duration: ``637ms``, ``7.66s``, ``1m26.4s``, ``6m0s``, ``4h17m0s``."""
    if 0 < seconds < 1:
        return f"{round(seconds * 1000, 3):g}ms"
    whole_minutes, rest = divmod(round(seconds, 3), 60)
    hours, minutes = divmod(int(whole_minutes), 60)
    text = f"{round(rest, 3):g}s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text


def _refusal_body(style: LimitStyle, admission: Admission, message: str) -> dict[str, Any]:
    match style:
        case "cerebras":  # flat, not under "error"
            return {
                "message": message,
                "type": "too_many_requests_error",
                "param": "quota",
                "code": "request_quota_exceeded",
            }
        case "mistral":
            return {"object": "error", "message": message, "type": "rate_limited", "param": None, "code": "1300"}
        case "kimi":
            return {"error": {"message": message, "type": "rate_limit_reached_error"}}
        case "openrouter":
            metadata = {"error_type": "rate_limit_exceeded"}
            return {"error": {"code": 429, "message": message, "metadata": metadata}}
        case "groq":
            return {"error": {"message": message, "type": admission.refused_by, "code": "rate_limit_exceeded"}}
        case _:
            kind = admission.refused_by
            return {"error": {"message": message, "type": kind, "param": None, "code": "rate_limit_exceeded"}}


def _go_style(requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    return _family("requests", requests, go_duration) | _family("tokens", tokens, go_duration)


def _cerebras(requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    return _family("requests-day", requests, _float) | _family("tokens-minute", tokens, _float)


def _sambanova(requests: BucketLevel | None, _tokens: BucketLevel | None) -> dict[str, str]:
    # one unit per header: seconds beside a duration, as third parties saw it
    return _family("requests", requests, _whole) | _family("requests-day", requests, go_duration)


def _mistral(_requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    if tokens is None:
        return {}
    return {
        "x-ratelimitbysize-limit-minute": str(tokens.limit),
        "x-ratelimitbysize-remaining-minute": str(tokens.remaining),
        "ratelimitbysize-limit": str(tokens.limit),
        "ratelimitbysize-remaining": str(tokens.remaining),
        "ratelimitbysize-reset": _whole(tokens.reset_s),
    }


def _together(requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    headers = {}
    if requests is not None:
        headers["x-ratelimit-limit"] = str(requests.limit)
        headers["x-ratelimit-remaining"] = str(requests.remaining)
        headers["x-ratelimit-reset"] = _whole(requests.reset_s)
    if tokens is not None:
        headers["x-tokenlimit-limit"] = str(tokens.limit)
        headers["x-tokenlimit-remaining"] = str(tokens.remaining)
    return headers


def _fireworks(requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    headers = {"x-ratelimit-over-limit": "no"}
    if requests is not None:
        headers["x-ratelimit-limit-requests"] = str(requests.limit)
        headers["x-ratelimit-remaining-requests"] = str(requests.remaining)
    if tokens is not None:
        headers["x-ratelimit-limit-tokens-generated"] = str(tokens.limit)
        headers["x-ratelimit-remaining-tokens-generated"] = str(tokens.remaining)
    return headers


def _anthropic(requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    return _anthropic_family("ratelimit-requests", requests) | _anthropic_family("ratelimit-tokens", _rounded(tokens))


def _anthropic_fast(requests: BucketLevel | None, tokens: BucketLevel | None) -> dict[str, str]:
    # fast mode has token limits of its own, input and output apart
    level = _rounded(tokens)
    return (
        _anthropic_family("ratelimit-requests", requests)
        | _anthropic_family("fast-input-tokens", level)
        | _anthropic_family("fast-output-tokens", level)
    )


def _anthropic_family(name: str, level: BucketLevel | None) -> dict[str, str]:
    if level is None:
        return {}
    reset = datetime.fromtimestamp(math.ceil(time.time() + level.reset_s), UTC)
    return {
        f"anthropic-{name}-limit": str(level.limit),
        f"anthropic-{name}-remaining": str(level.remaining),
        f"anthropic-{name}-reset": reset.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _rounded(tokens: BucketLevel | None) -> BucketLevel | None:
    """Anthropic rounds the tokens that remain to the nearest thousand."""
    return None if tokens is None else replace(tokens, remaining=round(tokens.remaining, -3))


def _family(name: str, level: BucketLevel | None, reset: Callable[[float], str]) -> dict[str, str]:
    if level is None:
        return {}
    return {
        f"x-ratelimit-limit-{name}": str(level.limit),
        f"x-ratelimit-remaining-{name}": str(level.remaining),
        f"x-ratelimit-reset-{name}": reset(level.reset_s),
    }


def _float(seconds: float) -> str:
    return f"{seconds:.6f}"


def _whole(seconds: float) -> str:
    return str(math.ceil(seconds))


_WITHOUT_RETRY_AFTER: Final = frozenset({"none", "cerebras"})

_HEADERS: Final[dict[LimitStyle, Callable[[BucketLevel | None, BucketLevel | None], dict[str, str]]]] = {
    "openai": _go_style,
    "groq": _go_style,
    "cerebras": _cerebras,
    "mistral": _mistral,
    "together": _together,
    "fireworks": _fireworks,
    "sambanova": _sambanova,
    "anthropic": _anthropic,
    "anthropic_fast": _anthropic_fast,
}

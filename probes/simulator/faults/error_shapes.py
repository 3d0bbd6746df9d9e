"""The shapes of each provider's errors, as a whole body and as events inside a stream that began well.

By the documents and clients that `probes/config/presets.toml` names of each provider (`docs` and `source`).
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from probes.simulator.event_stream import frame

ErrorShape = Literal[
    "object",
    "event",
    "cerebras",
    "groq",
    "openrouter",
    "vllm",
    "string",
    "anthropic",
    "responses",
    "responses_flat",
    "responses_failed",
    "responses_ws",
    "responses_ws_failed",
    "gemini",
    "gemini_list",
    "ollama",
    "bedrock",
]

_GEMINI_CODES: Final[Mapping[str, int]] = {
    "INVALID_ARGUMENT": 400,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}

_SOCKET_STATUSES: Final[Mapping[str | int, int]] = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "previous_response_not_found": 400,
    "server_is_overloaded": 503,
}


def anthropic_error(kind: str, message: str) -> dict[str, Any]:
    """An error of the Messages API, with the id to quote to support."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_sim_error"}


def gemini_error(status: str, message: str, *details: Mapping[str, Any]) -> dict[str, Any]:
    """An error of the Gemini API by its status word; the number follows from it, 500 for an unknown word."""
    error = {"code": _GEMINI_CODES.get(status, 500), "message": message, "status": status}
    return {"error": {**error, "details": list(details)} if details else error}


def gemini_exhausted(per: Literal["minute", "day"], of: Literal["requests", "tokens"], retry_s: int) -> dict[str, Any]:
    """Gemini's 429: the quota's id says whether the minute's or the day's is used up, RetryInfo how long to wait."""
    rpc = "type.googleapis.com/google.rpc"
    counted = {"requests": "GenerateRequests", "tokens": "GenerateContentInputTokens"}[of]
    violation = {
        "quotaMetric": f"generativelanguage.googleapis.com/generate_content_free_tier_{of}",
        "quotaId": f"{counted}Per{per.title()}PerProjectPerModel-FreeTier",
    }
    return gemini_error(
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
        {"@type": f"{rpc}.QuotaFailure", "violations": [violation]},
        {"@type": f"{rpc}.RetryInfo", "retryDelay": f"{retry_s}s"},
    )


def socket_error(status: int, error: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """An ``error`` message of Responses over a WebSocket, with the HTTP status and the headers it stands for."""
    return {"type": "error", "status": status, "error": {**error, "headers": dict(headers)} if headers else error}


def error_events(shape: ErrorShape, message: str, code: str | int, place: int) -> list[bytes]:
    """The events of an error inside a 200. ``place`` is how many events came before: some shapes number theirs."""
    match shape:
        case "anthropic":
            return [b"event: error\n" + _data(anthropic_error(str(code), message))]
        case "responses" | "responses_flat" | "responses_failed":
            named = _responses(shape, message, code, place)
            return [f"event: {one['type']}\n".encode() + _data(one) for one in named]
        case "responses_ws":
            error = {"type": code, "code": code, "message": message, "param": None}
            return [json.dumps(socket_error(_SOCKET_STATUSES.get(code, 500), error)).encode()]
        case "responses_ws_failed":
            return [json.dumps(one).encode() for one in _responses("responses_failed", message, code, place)]
        case "gemini":  # bare lines, pretty-printed, without "data:"
            return [json.dumps(gemini_error(str(code), message), indent=2).encode() + b"\n"]
        case "gemini_list":
            return [json.dumps([gemini_error(str(code), message)], indent=2).encode() + b"\n"]
        case "bedrock":  # ``code`` is the exception's name
            data = json.dumps({"message": message}).encode()
            return [frame(data, exception_type=str(code), content_type="application/json", message_type="exception")]
        case "ollama":
            return [json.dumps({"error": message}).encode() + b"\n"]
        case "event" | "cerebras":
            return [b"event: error\n" + _data(_chat(shape, message, code))]
        case "vllm":  # sends its marker even then
            return [_data(_chat(shape, message, code)), b"data: [DONE]\n\n"]
        case _:
            return [_data(_chat(shape, message, code))]


def _chat(shape: ErrorShape, message: str, code: str | int) -> dict[str, Any]:
    plain = {"message": message, "type": "server_error", "param": None, "code": code}
    match shape:
        case "cerebras":
            return {"error": {**plain, "id": "err-1"}, "status_code": 500}
        case "groq":
            return {"id": "chatcmpl-1", "choices": [], "x_groq": {"id": "req_1", "error": message}}
        case "openrouter":
            choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
            return {"error": {"code": code, "message": message}, "choices": [choice]}
        case "string":
            return {"error": message}
        case _:
            return {"error": plain}


def _responses(shape: ErrorShape, message: str, code: str | int, place: int) -> list[dict[str, Any]]:
    """The recorded pair of ``error`` (nested) and ``response.failed``, or one of the two alone (flat: the SDK's)."""
    error = {"type": code, "code": code, "message": message, "param": None}
    nested = {"type": "error", "sequence_number": place, "error": error}
    flat = {"type": "error", "sequence_number": place, "code": code, "message": message, "param": None}
    response: dict[str, Any] = {
        "id": "resp_sim_error",
        "object": "response",
        "status": "failed",
        "error": {"code": code, "message": message},
        "output": [],
        "usage": None,
    }
    failed = {"type": "response.failed", "sequence_number": place + 1, "response": response}
    return {"responses": [nested, failed], "responses_flat": [flat], "responses_failed": [failed]}[shape]


def _data(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"

"""Trouble: what an error means, whether it is a whole response or sits inside a stream that began well.

Look-alikes of one API put errors in many shapes: ``{"error": {"message", "type", "code"}}`` (OpenAI), flat (Cerebras,
Mistral), ``{"error": "text"}`` (Ollama), in a list (Gemini), a list of field errors (FastAPI, Mistral's 422), an HTML
page (proxies), nothing at all. All become one `Trouble`, in the provider's own words.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from probes.outcome import Outcome
from probes.ratelimit import parse_reset, retry_hint
from probes.text import line
from probes.wire.dialect import Trouble
from probes.wire.json_values import mapping, word
from probes.wire.sse import SseDecoder

PAGE_LIMIT: Final = 64 * 1024
"""Characters of a body that is not JSON which are looked at."""

_WORDS: Final[Mapping[Outcome, frozenset[str]]] = {
    # In order of precedence: where type and code disagree, the more telling one wins.
    Outcome.QUOTA: frozenset(
        {
            *("insufficient_quota", "exceeded_current_quota_error", "payment_required", "insufficient_balance"),
            *("insufficient_credits", "billing_error", "billing_hard_limit_reached", "billing_not_active"),
        }
    ),
    Outcome.OVERLOADED: frozenset(
        {
            *("overloaded_error", "engine_overloaded_error", "provider_overloaded", "server_is_overloaded"),
            *("service_unavailable", "service_unavailable_error", "unavailable", "unavailable_error"),
            # 429s that say nothing about the caller's own use: Cerebras' full queue, Mistral's full tier
            *("queue_exceeded", "service_tier_capacity_exceeded"),
        }
    ),
    Outcome.RATE_LIMITED: frozenset(
        {
            *("rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error", "rate_limited"),
            *("too_many_requests", "too_many_requests_error", "too_many_tokens_error", "resource_exhausted"),
            # Cerebras calls its per-minute limits quotas; Groq's 498 is a full flex tier, a limiter by design
            *("request_quota_exceeded", "token_quota_exceeded", "capacity_exceeded"),
        }
    ),
    Outcome.AUTH: frozenset(
        {
            *("authentication_error", "authentication", "invalid_api_key", "invalid_authentication_error"),
            *("incorrect_api_key_error", "wrong_api_key", "permission_error", "permission_denied", "unauthorized"),
        }
    ),
    Outcome.NOT_FOUND: frozenset(
        {"model_not_found", "not_found", "not_found_error", "notfounderror", "resource_not_found_error"}
    ),
    Outcome.REFUSED: frozenset({"content_policy_violation", "content_filter", "refusal", "data_inspection_failed"}),
}
_WEAK_WORDS: Final[Mapping[Outcome, frozenset[str]]] = {
    # Said of nearly everything (Anthropic's lack of credit is an invalid_request_error): only where nothing else helps.
    Outcome.BAD_REQUEST: frozenset(
        {
            *("invalid_request_error", "invalid_request", "bad_request", "badrequesterror", "invalid_prompt"),
            *("context_length_exceeded", "payload_too_large", "unprocessable", "validation_error"),
        }
    ),
    Outcome.SERVER_ERROR: frozenset(
        {
            *("server_error", "api_error", "internal_error", "internal_server_error", "internalservererror"),
            *("server", "timeout", "timeout_error", "provider_unavailable", "bad_gateway"),
        }
    ),
}
_SENTENCES: Final = (
    (
        Outcome.QUOTA,
        re.compile(
            r"credit balance is too low|specified api usage limits|exceeded your current quota|out of credits"
            r"|insufficient (?:account )?(?:balance|credits?|funds|quota)|requires more credits",
            re.IGNORECASE,
        ),
    ),
    (
        Outcome.OVERLOADED,
        re.compile(
            r"overloaded|(?:over|at) capacity|high (?:traffic|demand|load)|server (?:is )?busy"
            r"|maximum pending requests|temporarily unavailable",
            re.IGNORECASE,
        ),
    ),
    (
        Outcome.REFUSED,  # invalid requests by their type: Anthropic's, OpenAI's, LiteLLM's, Alibaba's
        re.compile(
            r"blocked by content filtering policy|flagged as potentially violating|ContentPolicyViolation"
            r"|DataInspectionFailed",
            re.IGNORECASE,
        ),
    ),
)
_LOADING: Final = re.compile(
    # llama.cpp (503); Ollama (500: "unexpected server status: llm server loading model"); Hugging Face (503). One that
    # could not be loaded ("error loading model: …", Ollama) is not among them
    r"(?:\A|llm server )loading model\W*\Z|\bmodel\b.{0,200} is (?:currently |still )?loading\b",
    re.IGNORECASE,
)
_STATUSES: Final[Mapping[int, Outcome]] = {
    401: Outcome.AUTH,
    402: Outcome.QUOTA,
    403: Outcome.AUTH,
    404: Outcome.NOT_FOUND,
    405: Outcome.NOT_FOUND,  # something is there, but no API that takes a POST
    408: Outcome.SERVER_ERROR,  # the provider gave up, we did not
    410: Outcome.NOT_FOUND,
    424: Outcome.SERVER_ERROR,
    429: Outcome.RATE_LIMITED,
    498: Outcome.RATE_LIMITED,  # Groq: flex tier full
    503: Outcome.OVERLOADED,
    529: Outcome.OVERLOADED,  # Anthropic, OpenRouter
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error record says: a sentence, the words it uses for its kind, the HTTP status it names, the wait."""

    sentence: str
    words: tuple[str, ...] = ()
    status: int | None = None
    retry_after_s: float | None = None

    @property
    def loading(self) -> bool:
        """Whether it says that the model is being loaded: the server is up, but not yet of use."""
        return bool(_LOADING.search(self.sentence[:2000]))

    @property
    def detail(self) -> str:
        """One plain line: the sentence, with the most telling kind after it where that adds something."""
        return line(f"model loading: {self._said}") if self.loading else self._said

    @property
    def _said(self) -> str:
        kind = next((one for one in self.words if not one.isdigit()), "")
        sentence, kind = line(self.sentence), line(kind, 40)
        if not sentence:
            return kind or "an error without words"
        adds = kind and kind.lower() not in sentence.lower()
        return f"{line(sentence, 250)} ({kind})" if adds else sentence


def trouble(status: int, headers: Mapping[str, str], body: bytes) -> Trouble:
    """What a response that is not a 200 means. ``body`` may be cut, empty, HTML or not text; names in lower case."""
    if 300 <= status < 400:
        return Trouble(Outcome.PROTOCOL, _redirect(headers.get("location", "")))
    complaint = read_complaint(error_record(body)) or Complaint(_prose(body) or f"HTTP {status} with an empty body")
    outcome = _outcome(complaint, status) or Outcome.PROTOCOL
    return Trouble(outcome, complaint.detail, complaint.retry_after_s)


def trouble_inside(record: object) -> Trouble:
    """What an error record inside a 200 means: as specific as its own words, else a stream error."""
    complaint = read_complaint(record) or Complaint("")
    outcome = _outcome(complaint, complaint.status) or Outcome.STREAM_ERROR
    return Trouble(outcome, complaint.detail, complaint.retry_after_s)


def trouble_instead(body: bytes) -> Trouble | None:
    """What it means that a 200 has (the start of) ``body`` where a stream should be; None for white space."""
    record = _json(body)
    if is_error(record):
        return trouble_inside(record)
    if isinstance(record, dict | list):
        return Trouble(Outcome.PROTOCOL, "a whole JSON answer instead of a stream")
    prose = _prose(body)
    return Trouble(Outcome.PROTOCOL, line(f"not an event stream: {prose}")) if prose else None


def is_error(record: object) -> bool:
    """Whether a JSON record is an error, of any look-alike's shape."""
    if isinstance(record, list):
        return bool(record) and isinstance(record[0], dict) and is_error(record[0])
    found = mapping(record)
    if found.get("error") or found.get("object") == "error":
        return True
    return "choices" not in found and bool(word(found.get("message"))) and ("type" in found or "code" in found)


def read_complaint(record: object) -> Complaint | None:
    """What an error record says, or None where it says nothing."""
    if isinstance(record, list) and record and "error" in mapping(record[0]):
        record = record[0]
    outer = mapping(record)
    error = mapping(outer.get("error"))
    meta = mapping(error.get("metadata"))  # OpenRouter: its own class of the error, and the upstream's words
    sentence = _sentence(record)
    if upstream := word(meta.get("raw")):
        sentence = f"{sentence}: {upstream}"
    if filtered := filtered_categories(mapping(error.get("innererror")).get("content_filter_result")):
        sentence = f"{filtered}: {sentence}"  # Azure
    named = [meta.get("error_type"), error.get("code"), error.get("type"), error.get("status")]
    named += [outer.get("code"), outer.get("type"), outer.get("status_code"), outer.get("status")]
    words = tuple(str(one) for one in named if isinstance(one, str | int) and one and len(str(one)) <= 64)
    if not sentence and not words:
        return None
    status = next((int(one) for one in words if re.fullmatch("[45][0-9][0-9]", one)), None)
    return Complaint(sentence, words, status, _delay(error.get("details")) or retry_hint(sentence))


def filtered_categories(results: object) -> str:
    """What Azure's content filter held against a text: ``{"hate": {"filtered": true, "severity": "high"}, …}``."""
    found = [(name, mapping(one)) for name, one in mapping(results).items() if mapping(one).get("filtered") is True]
    return line(", ".join(f"{name} {word(one.get('severity')) or ''}".strip() for name, one in found), 100)


def _outcome(complaint: Complaint, status: int | None) -> Outcome | None:
    said = {one.lower() for one in complaint.words}
    for outcome, words in _WORDS.items():
        if said & words:
            return outcome
    for outcome, pattern in _SENTENCES:
        if pattern.search(complaint.sentence[:2000]):
            return outcome
    if complaint.loading:
        return Outcome.OVERLOADED
    if status is not None and (known := _STATUSES.get(status)):
        return known
    if status is not None and 400 <= status < 600:
        return Outcome.BAD_REQUEST if status < 500 else Outcome.SERVER_ERROR
    return next((outcome for outcome, words in _WEAK_WORDS.items() if said & words), None)


def _sentence(value: object, depth: int = 5) -> str:
    """The words in an error value: a string, the sentence of an object, those of a list (field errors) joined."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "; ".join(said for one in value[:5] if (said := _sentence(one, depth - 1)))
    if isinstance(value, dict) and depth:
        keys = ("error", "message", "msg", "detail", "description")
        said = next((said for key in keys if (said := _sentence(value.get(key), depth - 1))), "")
        place = value.get("loc")
        if said and isinstance(place, list):
            return f"{'.'.join(str(one) for one in place[:8] if isinstance(one, str | int))}: {said}"
        return said
    return ""


def _delay(details: object) -> float | None:
    """The wait in google.rpc.RetryInfo ("38s"), seconds."""
    for one in details if isinstance(details, list) else ():
        if delay := word(mapping(one).get("retryDelay")):
            return parse_reset(delay, 0.0)
    return None


def error_record(body: bytes) -> Any:
    """The record in the body of an error: its JSON, or the first error, else complaint, of those it streams; or None.

    Those are server-sent events (LiteLLM's 500 on its Responses route is ``data: {"error": …}``) or lines of JSON.
    """
    if (record := _json(body)) is not None:
        return record
    decoder = SseDecoder()
    events = [*decoder.feed(body), *decoder.close()]
    records = [
        _json(one.data) if one.data[:1] in "{[" else {"error": one.data} for one in events if one.data != "[DONE]"
    ]
    records = [one for one in records or map(_json, body.splitlines()) if read_complaint(one)]
    return next(filter(is_error, records), records[0] if records else None)


def _json(body: bytes | str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _prose(body: bytes) -> str:
    """What a person would read in a body that is no JSON: a page's title, or else its text, as one line."""
    text = body[: PAGE_LIMIT * 4].decode("utf-8", "replace")[:PAGE_LIMIT].strip()
    if text.count("\ufffd") * 10 > len(text):
        return f"{len(body)} bytes that are not text"
    if text.startswith("<"):
        title = re.search(r"<title[^<>]*>([^<]*)", text, re.IGNORECASE)
        text = html.unescape(title[1] if title and title[1].strip() else re.sub(r"<[^<>]*>", " ", text))
    return line(text)


def _redirect(location: str) -> str:
    try:
        parts = urlsplit(location)
    except ValueError:
        return "redirect not followed"
    host = parts.netloc.rpartition("@")[2]
    place = f"{parts.scheme}://{host}".removeprefix("://") if host else parts.path
    return line(f"redirect to {place} not followed")

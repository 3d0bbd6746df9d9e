"""What a server can do to a probe: one row a fault, how it is made on the wire, what must come out, what must not."""

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from probes.outcome import Outcome
from tests.chaos.wire_server import Drip, Flood, Frame, Hold, Request, Reset, Send, Step, Upgrade, Wait
from tests.servers.floods import FLOODS, dialect_of

KEY: Final = "sk-proj-Zq7Xw2Lm9Kd4Rt8Vb3Nc6Hf1Jy5Gp0SaTeUiOx"
"""A key of the usual shape; nothing of it beyond ``sk-proj-`` may come back out."""
SECRET: Final = KEY.removeprefix("sk-proj-")

OK, PROTOCOL, CUT, TIMEOUT = Outcome.OK, Outcome.PROTOCOL, Outcome.CUT, Outcome.TIMEOUT
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
STREAM: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TO_THE_END: Final = HEAD + b"Connection: close\r\n\r\n"
"""A body without a length: it ends with the connection."""
LAST: Final = b"0\r\n\r\n"


@dataclass(frozen=True)
class Fault:
    """One row. ``outcomes`` is what the sample may end in, ``says`` what its detail must hold.

    ``numbers``: whether it may have a decode speed and a cost. ``floods``: it goes on for as long as it is read.
    ``certificate`` is that of TLS, ``scheme`` how the address begins where it is not told by that. ``limit`` is which
    of the endpoint's four time-outs ends it, if one does.
    """

    name: str
    steps: tuple[Step, ...]
    outcomes: frozenset[Outcome]
    says: str = ""
    dialect: str = "openai_chat"
    numbers: bool = False
    floods: bool = False
    certificate: str = ""
    scheme: str = ""
    limit: str = ""


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(record: dict | str) -> bytes:
    """One server-sent event."""
    return b"data: " + (record if isinstance(record, str) else json.dumps(record)).encode() + b"\n\n"


def delta(text: str) -> bytes:
    """One event of an answer."""
    return event({"id": "1", "model": "m", "choices": [{"index": 0, "delta": {"content": text}}]})


def usage(**counts: object) -> bytes:
    """The event with the token counts."""
    return event({"id": "1", "model": "m", "choices": [], "usage": counts})


FINISH: Final = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
DONE: Final = event("[DONE]")
WORDS: Final = b"".join(delta(f"word{number} ") for number in range(20))
COUNTS: Final = {"prompt_tokens": 12, "completion_tokens": 40}


def answer(*pieces: bytes, head: bytes = STREAM) -> bytes:
    """A whole chunked answer, each piece a chunk."""
    return head + b"".join(map(chunk, pieces)) + LAST


def error(status: str, body: object, *headers: str) -> bytes:
    """A whole response that says no."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + data


def replies(name: str, data: bytes, *outcomes: Outcome, says: str = "") -> Fault:
    """A fault that is read to its end, and then the connection is closed."""
    return Fault(name, (Request(), Send(data)), frozenset(outcomes), says)


def hangs(name: str, limit: str, *steps: Step) -> Fault:
    """A fault that one of the time-outs ends, and is named after."""
    return Fault(name, (Request(), *steps), frozenset({TIMEOUT}), limit.replace("_", " "), limit=limit)


def told(name: str, *outcomes: Outcome, says: str = "", **body: object) -> Fault:
    """A fault that is an answer with such a usage: spread over time, so that there is a speed to get wrong."""
    head = Send(STREAM + chunk(delta("first words, ")))
    rest = [Send(chunk(WORDS[: len(WORDS) // 2])), Wait(0.08), Send(chunk(WORDS[len(WORDS) // 2 :]))]
    end = Send(b"".join(map(chunk, (FINISH, usage(**body), DONE))) + LAST)
    return Fault(name, (Request(), head, Wait(0.05), *rest, end), frozenset(outcomes), says, numbers=True)


def echoed(name: str, text: str) -> Fault:
    """A fault that is an error in whose words a part of the key comes back."""
    words = {"error": {"message": f"Incorrect API key provided: {text}.", "code": "x"}}
    return replies(name, error("401 Unauthorized", words), Outcome.AUTH)


def endless(name: str) -> Fault:
    """A fault without an end, one of `tests.servers.floods.FLOODS`."""
    flood = FLOODS[name]
    asked: tuple[Step, ...] = (Upgrade(), *([] if flood.unasked else [Frame()])) if flood.upgraded else (Request(),)
    outcomes = frozenset({Outcome.CONNECT if name == "an upgrade's headers" else PROTOCOL})
    steps = (*asked, Send(flood.begun), Flood(flood.more))
    return Fault(f"endless: {name}", steps, outcomes, dialect=dialect_of(name), floods=True)


CONNECTION: Final = (
    Fault("reset at once", (Reset(),), frozenset({CUT, Outcome.CONNECT})),
    Fault("closed before a byte", (Request(),), frozenset({CUT})),
    Fault("reset before a byte", (Request(), Reset()), frozenset({CUT})),
    hangs("never answers", "first_token", Hold()),
    # whether it was there before the request is up to the machine: where it came later nobody can tell
    Fault("an answer unasked", (Send(answer(delta("early"), FINISH, DONE)), Hold()), frozenset({PROTOCOL, OK})),
    Fault("no TLS behind https", (Send(b"HTTP/1.1 400 No\r\n\r\n"),), frozenset({Outcome.TLS}), scheme="https"),
    Fault("an untrusted certificate", (Request(),), frozenset({Outcome.TLS}), certificate="untrusted"),
    Fault(
        "a TLS handshake that hangs", (Hold(),), frozenset({Outcome.TLS}), "handshake", scheme="https", limit="connect",
    ),
    Fault("closed inside TLS", (Request(), Send(STREAM)), frozenset({CUT}), certificate="trusted"),
    Fault(
        "TLS records without an end", (Flood(b"\x16\x03\x03\x40\x00" + b"\x02" * 0x4000),),
        frozenset({Outcome.TLS, TIMEOUT, PROTOCOL}), scheme="https", floods=True, limit="connect",
    ),
)  # fmt: skip

HTTP: Final = (
    replies("garbage", b"\x16\x03\x01 nothing known\r\n\r\n", PROTOCOL),
    replies("status 000", b"HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n", PROTOCOL),
    replies("status 999", error("999 Odd", {}), PROTOCOL, Outcome.SERVER_ERROR),
    replies("HTTP/0.9", b"hello", PROTOCOL, CUT),
    replies("two lengths", HEAD + b"Content-Length: 4\r\nContent-Length: 9\r\n\r\nabcd", PROTOCOL, CUT),
    replies("a negative length", HEAD + b"Content-Length: -1\r\n\r\n", PROTOCOL),
    replies("a length and chunks", HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST,
            PROTOCOL, CUT, Outcome.EMPTY),
    replies("a chunk size beyond 64 bits", STREAM + b"f" * 40 + b"\r\n", PROTOCOL),
    replies("a chunk size that is no number", STREAM + b"zz\r\n", PROTOCOL),
    replies("no body", HEAD + b"Content-Length: 0\r\n\r\n", Outcome.EMPTY, CUT),
    replies("a redirect with the key", error("307 Moved", b"", f"Location: http://127.0.0.1:9/?k={KEY}"), PROTOCOL),
    replies("gzip though nobody asked", HEAD + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n\x1f", PROTOCOL),
    hangs("a head in drips", "first_token", Drip(STREAM, 0.2)),
    replies("switching protocols unasked", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", PROTOCOL),
)  # fmt: skip

FAILED: Final = event({"error": {"message": "broke", "type": "server_error"}})
HOSTILE: Final = '{"choices":[{"delta":{"content":"\\ud800\\u001b[2J\\u001b]0;title\\u0007\\u202e"}}]}'
"""A lone surrogate, escape sequences and a direction override, as JSON writes them."""
STREAMS: Final = (
    replies("one event of 2 MiB", answer(delta("x" * (2 << 20)), FINISH, DONE), PROTOCOL),
    replies("a JSON bomb", answer(event("[" * 100_000 + "]" * 100_000)), PROTOCOL),
    replies("no JSON", answer(event("{oops")), PROTOCOL),
    replies("a page in place of a stream", answer(b"<html><body>Hello</body></html>"),
            PROTOCOL, Outcome.STREAM_ERROR, Outcome.EMPTY, CUT),
    Fault("cut in the middle", (Request(), Send(STREAM + chunk(WORDS)), Wait(0.1)), frozenset({CUT})),
    replies("no marker at the end", answer(WORDS), CUT),
    hangs("a stall", "stall", Send(STREAM + chunk(WORDS)), Hold()),
    hangs("keep-alives without progress", "first_token", Send(STREAM), Drip(b"3\r\n:\n\n\r\n" * 400, 0.01)),
    hangs("a drip that never ends", "total", Send(TO_THE_END), *(Send(delta("a")), Wait(0.25)) * 40),
    replies("nothing but a marker", answer(DONE), Outcome.EMPTY),
    replies("an error inside", answer(WORDS, FAILED), Outcome.STREAM_ERROR, Outcome.SERVER_ERROR),
    replies("lone surrogates and escapes", answer(event(HOSTILE), DONE), OK, Outcome.EMPTY),
    replies("bytes that are no UTF-8", answer(b'data: {"choices":[{"delta":{"content":"\xff\xfe"}}]}\n\n', DONE),
            OK, PROTOCOL),
)  # fmt: skip


def socket(name: str, data: bytes, *outcomes: Outcome) -> Fault:
    """A fault on a WebSocket, which then stays open."""
    return Fault(name, (Upgrade(), Frame(), Send(data), Hold()), frozenset(outcomes), dialect="openai_responses_ws")


SOCKETS: Final = (
    socket("a frame of 2^63 bytes", b"\x81\x7f" + b"\x7f" + b"\xff" * 7, PROTOCOL),
    socket("a masked frame", b"\x81\x82abcd12", PROTOCOL),
    socket("a close with the key", b"\x88" + bytes([2 + len(KEY)]) + b"\x03\xe8" + KEY.encode(), CUT),
)  # fmt: skip

NUMBERS: Final = (
    told("a billion tokens", OK, prompt_tokens=12, completion_tokens=10**9),
    told("more tokens than a 64-bit number", OK, prompt_tokens=12, completion_tokens=2**70),
    told("a negative count", OK, prompt_tokens=-5, completion_tokens=-40),
    told("counts that are texts", OK, prompt_tokens="12", completion_tokens="many"),
    told("reasoning beyond all measure", OK, **COUNTS, completion_tokens_details={"reasoning_tokens": 10**9}),
    told("a cost of 1e308", OK, **COUNTS, cost=1e308),
    told("a cost that is no number", OK, **COUNTS, cost="NaN"),
    told("a billion tokens of prompt", OK, prompt_tokens=10**9, completion_tokens=40),
)

ECHOES: Final = (
    echoed("the whole key", KEY),
    echoed("the end of the key", f"…{SECRET[-14:]}"),
    echoed("the end after dots", f"....{SECRET[-5:]}"),
    echoed("the beginning before stars", f"{KEY[:14]}***"),
    echoed("the middle of the key", f"saw {SECRET[8:22]} there"),
    echoed("the key reversed", KEY[::-1]),
    echoed("the key in base64", b64encode(KEY.encode()).decode()),
    echoed("the key in base64, shifted", b64encode(b"x" + KEY.encode()).decode()),
    echoed("the key URL-encoded", "".join(f"%{byte:02x}" for byte in SECRET.encode())),
    replies(
        "the key in headers",
        error("429 Too Many", {"error": {"message": f"key {SECRET[-9:]} is limited"}}, f"X-Request-Id: {KEY}",
              f"Retry-After: {SECRET}", f"X-RateLimit-Limit-Requests: {KEY}"),
        Outcome.RATE_LIMITED,
    ),
    replies("the key in the answer", answer(delta(f"Your key is {KEY}"), FINISH, DONE), OK),
)  # fmt: skip

FAULTS: Final[tuple[Fault, ...]] = (
    *(*CONNECTION, *HTTP, *STREAMS, *SOCKETS, *NUMBERS, *ECHOES),
    *map(endless, FLOODS),
)

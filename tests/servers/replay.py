"""Replay: an answer in given pieces over a real socket, what a probe makes of it, and each dialect's records."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from probes.config.presets import socket_dialects
from probes.figures.response import Answer
from probes.figures.timeline import Marks
from probes.measure.build_sample import assemble
from probes.measure.host_noise import Disturbance
from probes.measure.probe import Probed, Prober
from probes.sample import Sample
from probes.simulator.dialects.bedrock_converse import event
from probes.simulator.event_frames import frame
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.samples import endpoint
from tests.servers.raw_server import Client, serving

Ending = Literal["whole", "cut", "open"]
"""What follows the last piece: the proper end of the response, the end of the connection in its midst, or nothing."""

Timed = tuple[float, bytes]
"""Milliseconds since the request was sent, and what came then."""

PACE_S: Final = 0.002
"""Between two pieces, so that each is a read of its own as a rule; no test needs it to be."""


async def replay(
    dialect: str, pieces: Sequence[bytes], *, status: int = 200, ending: Ending = "whole", **options: Any
) -> Probed:
    """One probe of a server that answers with these pieces, each an HTTP chunk (or WebSocket message) of its own."""
    over_socket = dialect in socket_dialects()

    async def script(client: Client) -> None:
        if over_socket:
            await client.upgrade()
        else:
            await client.request()
            await client.say(f"HTTP/1.1 {status} Said\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for piece in pieces:
            if over_socket:
                await client.message(piece.removesuffix(b"\n"))
            else:
                await client.say(b"%x\r\n%b\r\n" % (len(piece), piece))
            await asyncio.sleep(PACE_S)
        if ending == "open":
            await client.hold()
        elif ending == "whole" and not over_socket:
            await client.say(b"0\r\n\r\n")

    async with serving(script) as port:
        url = f"{'ws' if over_socket else 'http'}://127.0.0.1:{port}/v1"
        watched = endpoint(dialect=dialect, base_url=url, **options)
        prober = Prober(watched, load_dialect(dialect), transport_to(url, None))
        try:
            return await prober.probe(None)
        finally:
            prober.close()


def replayed(dialect: str, records: Iterable[Timed], **fields: Any) -> Sample:
    """The sample of a whole 200 response to an endpoint of these ``fields``, as of a clock that runs by the records."""
    watched = endpoint(**{"dialect": dialect, "max_output_tokens": 2_000, **fields})
    answer, marks, reader = Answer(), Marks(due=0, started=0, sent=0), load_dialect(dialect).reader()
    last = 0
    for at_ms, data in records:
        last = round(at_ms * 1e6)
        for one in reader.feed(data):
            answer.take(one, last, marks)
    for one in reader.close():
        answer.take(one, last, marks)
    return assemble(
        watched, marks, answer,
        vantage="local", started_at=0, status=200, kept=True, limits=None, disturbance=Disturbance(), credentials=None,
    )  # fmt: skip


def sse(record: object, name: str = "") -> bytes:
    """A server-sent event."""
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(record)}\n\n".encode()


def row(record: object) -> bytes:
    """A line of NDJSON, or a message of a WebSocket."""
    return f"{json.dumps(record)}\n".encode()


class Chat:
    """OpenAI chat completions."""

    def said(self, text: str) -> bytes:
        return sse({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

    def finished(self, reason: str = "stop") -> bytes:
        return sse({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})

    def counted(self, prompt: int, output: int) -> bytes:
        return sse({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": output}})

    marker = b"data: [DONE]\n\n"
    frame = staticmethod(lambda text: f"data: {text}\n\n".encode("utf-8", "surrogateescape"))


class Completions(Chat):
    """OpenAI's legacy completions."""

    def said(self, text: str) -> bytes:
        return sse({"choices": [{"index": 0, "text": text, "finish_reason": None}]})

    def finished(self, reason: str = "stop") -> bytes:
        return sse({"choices": [{"index": 0, "text": "", "finish_reason": reason}]})


class Responses:
    """OpenAI Responses; whether its objects are server-sent events or messages is ``frame``'s."""

    def __init__(self, frame: Callable[[object], bytes]) -> None:
        self.record = frame

    def said(self, text: str) -> bytes:
        return self.record({"type": "response.output_text.delta", "delta": text})

    def finished(self, reason: str = "stop") -> bytes:
        return self.record({"type": "response.output_text.done"})

    def counted(self, prompt: int, output: int) -> bytes:
        usage = {"input_tokens": prompt, "output_tokens": output}
        return self.record({"type": "response.completed", "response": {"status": "completed", "usage": usage}})

    marker = b""

    def frame(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogateescape")
        return b"data: %b\n\n" % data if self.record is sse else data + b"\n"


class Anthropic:
    """Anthropic Messages."""

    def said(self, text: str) -> bytes:
        delta = {"type": "text_delta", "text": text}
        return sse({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")

    def finished(self, reason: str = "end_turn") -> bytes:
        return sse({"type": "content_block_stop", "index": 0}, "content_block_stop")

    def counted(self, prompt: int, output: int) -> bytes:
        usage = {"input_tokens": prompt, "output_tokens": output}
        delta = {"stop_reason": "end_turn"}
        return sse({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")

    marker = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
    frame = staticmethod(lambda text: f"data: {text}\n\n".encode("utf-8", "surrogateescape"))


class Gemini:
    """Gemini's generateContent."""

    def said(self, text: str) -> bytes:
        return sse({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}]})

    def finished(self, reason: str = "STOP") -> bytes:
        return sse({"candidates": [{"finishReason": reason, "index": 0}]})

    def counted(self, prompt: int, output: int) -> bytes:
        return sse({"usageMetadata": {"promptTokenCount": prompt, "candidatesTokenCount": output}})

    marker = b""
    frame = staticmethod(lambda text: f"data: {text}\n\n".encode("utf-8", "surrogateescape"))


class Ollama:
    """Ollama's chat."""

    def said(self, text: str) -> bytes:
        return row({"model": "m", "message": {"role": "assistant", "content": text}, "done": False})

    def finished(self, reason: str = "stop") -> bytes:
        return b"\n"

    def counted(self, prompt: int, output: int) -> bytes:
        counts = {"prompt_eval_count": prompt, "eval_count": output}
        return row({"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", **counts})

    marker = b""
    frame = staticmethod(lambda text: f"{text}\n".encode("utf-8", "surrogateescape"))


class Bedrock:
    """Bedrock's ConverseStream."""

    def said(self, text: str) -> bytes:
        return event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}})

    def finished(self, reason: str = "end_turn") -> bytes:
        return event("messageStop", {"stopReason": reason})

    def counted(self, prompt: int, output: int) -> bytes:
        return event("metadata", {"usage": {"inputTokens": prompt, "outputTokens": output}})

    marker = b""

    def frame(self, text: str) -> bytes:
        return frame(text.encode("utf-8", "surrogateescape"), event_type="contentBlockDelta", message_type="event")


RECORDS: Final[Mapping[str, Any]] = {
    "openai_chat": Chat(),
    "openai_completions": Completions(),
    "openai_responses": Responses(sse),
    "openai_responses_ws": Responses(row),
    "anthropic": Anthropic(),
    "gemini": Gemini(),
    "ollama": Ollama(),
    "bedrock_converse": Bedrock(),
}
"""How each dialect says things."""


def answer(dialect: str, *texts: str, counts: tuple[int, int] | None = (12, 20)) -> list[bytes]:
    """A whole answer of these texts, an event each."""
    records = RECORDS[dialect]
    whole = [*map(records.said, texts), records.finished(), *([records.counted(*counts)] if counts else [])]
    return [one for one in [*whole, records.marker] if one]

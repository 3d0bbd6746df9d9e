"""The ground-truth server of a selftest: it writes tokens when they are due, and notes when it wrote each.

One thread, blocking writes and the system calls they need: it runs on the same machine as the engine whose error is
measured, and must leave the processors to that.
"""

import heapq
import json
import os
import random
import selectors
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from probes.selftest.anonymous_tls import anonymous_context
from probes.selftest.load import LOADS, Load

WORDS: Final = ("ticked", "tocked", "chimed", "struck", "sprung", "wound ", "paused", "swayed")
"""Tokens of one length, so that the first one's share of the characters is its share of the tokens."""

NEAR_S: Final = 0.002

_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_REQUEST_LIMIT: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Truth:
    """One finished answer; instants are monotonic ns.

    ``read_ns`` is when its request had been read, ``at`` and ``until`` are one for each output event: just before its
    write, and when that had returned.
    """

    model: str
    read_ns: int
    at: tuple[int, ...]
    until: tuple[int, ...]
    tokens: int

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Truth":
        """The inverse of `dataclasses.asdict`."""
        return cls(**{**values, "at": tuple(values["at"]), "until": tuple(values["until"])})


@dataclass(slots=True)
class PacedAnswer:
    """One answer of so many tokens while it is written; ``due`` is when its next token is."""

    sock: socket.socket
    load: Load
    model: str
    tokens: int
    read_ns: int
    due: int
    at: list[int] = field(default_factory=list)
    until: list[int] = field(default_factory=list)


class Pacer:
    """Serves the models of some loads in the dialect of chat completions, on loopback, plain and encrypted.

    ``truths`` grows with every finished answer. With a ``seed`` the n-th answer of a model waits as long as any other
    pacer's n-th of that seed. Raises OSError where no port can be had.
    """

    def __init__(self, loads: Iterable[Load], tls: ssl.SSLContext | None, seed: int | None = None) -> None:
        self.truths: list[Truth] = []
        self._models = {model: load for load in loads for model in load.models}
        self._tls = tls
        self._dice = {
            model: random.Random(None if seed is None else f"{seed} {model}")  # noqa: S311  # chance, not secrecy
            for model in self._models
        }
        self._selector = selectors.DefaultSelector()
        self._due: list[tuple[int, int, PacedAnswer]] = []
        self._tick = 0
        self._ports = [self._listen(encrypted=False), *([self._listen(encrypted=True)] if tls is not None else [])]
        self._bell, self._rung = socket.socketpair()
        self._selector.register(self._rung, selectors.EVENT_READ, None)

    @property
    def urls(self) -> tuple[str, str]:
        """The plain and the encrypted base URL; twice the plain one without TLS."""
        plain = f"http://127.0.0.1:{self._ports[0]}/v1"
        return plain, f"https://127.0.0.1:{self._ports[1]}/v1" if len(self._ports) > 1 else plain

    def stop(self) -> None:
        """Make `serve` return; may be called from another thread."""
        self._bell.send(b"x")

    def serve(self) -> None:
        """Serve until `stop` is called."""
        while True:
            for key, _ in self._selector.select(self._pause()):
                if key.fileobj is self._rung:
                    self._close()
                    return
                self._on_readable(key)
            while self._due and self._due[0][0] <= time.monotonic_ns():
                self._write(heapq.heappop(self._due)[2])

    def _pause(self) -> float | None:
        """How long to wait for a request, seconds; of a short time to the next token the exact length is slept here.

        A selector waits in whole milliseconds, and tokens that are late together come together.
        """
        if not self._due:
            return None
        wait_s = (self._due[0][0] - time.monotonic_ns()) / 1e9
        if wait_s > NEAR_S:
            return wait_s - NEAR_S
        if wait_s > 0:
            time.sleep(wait_s)
        return 0.0

    def _listen(self, *, encrypted: bool) -> int:
        listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._selector.register(listening, selectors.EVENT_READ, encrypted)
        port: int = listening.getsockname()[1]
        return port

    def _on_readable(self, key: selectors.SelectorKey) -> None:
        sock = key.fileobj
        assert isinstance(sock, socket.socket)  # noqa: S101  # nothing else is registered
        try:
            if key.data is None:
                self._ask(sock)
            else:
                self._accept(sock, encrypted=key.data)
        except (OSError, ValueError, KeyError):  # a client that went away, or is none of ours
            if key.data is None:
                self._forget(sock)

    def _accept(self, listening: socket.socket, *, encrypted: bool) -> None:
        sock, _ = listening.accept()
        sock.settimeout(5.0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if encrypted and self._tls is not None:
            sock = self._tls.wrap_socket(sock, server_side=True)
        self._selector.register(sock, selectors.EVENT_READ, None)

    def _ask(self, sock: socket.socket) -> None:
        """Read one request and plan its answer. Raises OSError at the end of the connection."""
        head, _, body = _received(sock, b"").partition(b"\r\n\r\n")
        length = next(int(one[15:]) for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:"))
        while len(body) < length:
            body = _received(sock, body)
        read_ns = time.monotonic_ns()
        asked = json.loads(body)
        load = self._models[asked["model"]]
        wait_ns = round(max(5.0, self._dice[asked["model"]].gauss(load.ttft_ms, load.ttft_ms / 4)) * 1e6)
        tokens = min(load.tokens, asked.get("max_tokens", load.tokens))
        self._plan(PacedAnswer(sock, load, asked["model"], tokens, read_ns, read_ns + wait_ns))

    def _plan(self, answer: PacedAnswer) -> None:
        self._tick += 1
        heapq.heappush(self._due, (answer.due, self._tick, answer))

    def _write(self, answer: PacedAnswer) -> None:
        number = len(answer.at)
        try:
            if not number:
                answer.sock.sendall(_HEAD + _chunk(answer.model, {"role": "assistant", "content": ""}))
            data = _chunk(answer.model, {"content": WORDS[number % len(WORDS)]})
            at = time.monotonic_ns()
            answer.sock.sendall(data)
            answer.until.append(time.monotonic_ns())
            answer.at.append(at)
            if len(answer.at) < answer.tokens:
                answer.due += round(1e9 / answer.load.tokens_per_s)
                self._plan(answer)
            else:
                answer.sock.sendall(_ending(answer.model, answer.tokens))
                instants = tuple(answer.at), tuple(answer.until)
                self.truths.append(Truth(answer.model, answer.read_ns, *instants, answer.tokens))
        except OSError:
            self._forget(answer.sock)

    def _forget(self, sock: socket.socket) -> None:
        if sock.fileno() >= 0:
            self._selector.unregister(sock)
            sock.close()

    def _close(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()
        self._bell.close()


def _received(sock: socket.socket, before: bytes) -> bytes:
    data = sock.recv(1 << 16)
    if not data or len(before) > _REQUEST_LIMIT:
        raise ConnectionAbortedError("the client has gone")
    return before + data


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _record(model: str, **fields: object) -> bytes:
    record = {"id": "selftest", "object": "chat.completion.chunk", "created": 0, "model": model, **fields}
    return b"data: %b\n\n" % json.dumps(record).encode()


def _chunk(model: str, delta: dict[str, str], finish: str | None = None) -> bytes:
    return _framed(_record(model, choices=[{"index": 0, "delta": delta, "finish_reason": finish}]))


def _ending(model: str, tokens: int) -> bytes:
    usage = {"prompt_tokens": 8, "completion_tokens": tokens, "total_tokens": tokens + 8}
    done = _framed(_record(model, choices=[], usage=usage) + b"data: [DONE]\n\n")
    return _chunk(model, {}, "stop") + done + b"0\r\n\r\n"


def serve_process() -> None:
    """Run as a process: print two addresses, serve until standard input ends, then print each `Truth` as JSON."""
    pacer = Pacer(LOADS, anonymous_context(server=True))

    def wait_for_parent() -> None:
        while os.read(0, 4096):
            pass
        pacer.stop()

    threading.Thread(target=wait_for_parent, name="parent", daemon=True).start()
    for url in pacer.urls:
        print(url, flush=True)  # noqa: T201  # the parent reads it
    pacer.serve()
    sys.stdout.writelines(json.dumps(asdict(truth)) + "\n" for truth in pacer.truths)
    sys.stdout.flush()

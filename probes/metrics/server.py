"""The HTTP server that Prometheus scrapes, in threads of its own; beside the metrics the API, where it is asked for."""

import contextlib
import errno
import io
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPException
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from probes.metrics.address import Address
from probes.metrics.api.api import Api
from probes.metrics.api.messages import Request, problem
from probes.metrics.api.questions import PATHS, is_asked
from probes.metrics.metric import Detail, Names
from probes.metrics.scrape import scrape_application
from probes.metrics.tallies import Tallies
from probes.store.status import WAITED_LONG_S
from probes.supervision import Supervisor

TIMEOUT_S: Final = 5.0
"""How long a client may take to send its request, or to read the response."""

HEAD_LIMIT: Final = 65_536 + 16_384
"""Bytes of a request's line and headers; Python itself stops at a line of 65,536."""

CONNECTIONS_LIMIT: Final = 128
"""Connections at one time; one more ends the oldest of them, so that slow clients keep nobody from being answered."""

ENDING_S: Final = 0.1
"""How long a new connection waits for the oldest one to end; where that takes longer, it is the new one that ends."""

ENDED_S: Final = 2.0
"""How long the server's thread is waited for at the end."""

UNAVAILABLE: Final = "503 Service Unavailable"
SILENT: Final = "the engine is silent"
INDEX: Final = f"""\
inftop
/metrics  for Prometheus
/healthz  200 while the engine turns: what restarts it asks here
/readyz   200 while samples are stored and all runs, 503 and the reason where something is down, or once they
          have waited for {WAITED_LONG_S:.0f} s"""
API_INDEX: Final = "\n".join(["", *(f"{path}  {what}" for path, what in PATHS)])

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@contextmanager
def serving(
    address: Address,
    tallies: Tallies,
    names: Names = "both",
    detail: Detail = "basic",
    *,
    api: Api | None = None,
    supervisor: Supervisor | None = None,
) -> Iterator[Address]:
    """Serve tallies, and the API, until the block is left; gives the address, with the port that was chosen.

    Raises OSError.
    """
    try:
        server = _Server(address, _Handler)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(address)) from error
    if api is not None and not api.may_listen(server.server_name):  # a name that leads elsewhere than a moment ago
        server.server_close()
        raise OSError(errno.EADDRNOTAVAIL, "not an address of this machine alone", str(address))
    server.api = api
    index = INDEX if api is None else INDEX + API_INDEX
    server.set_app(_application(tallies, scrape_application(tallies, names, detail), index))
    thread = (supervisor or Supervisor()).thread("serving metrics", server.serve_forever)
    try:
        yield Address(address.host, server.server_port)
    finally:
        thread.stop()
        server.shutdown()
        server.server_close()
        thread.join(ENDED_S)


def _application(tallies: Tallies, metrics: Application, index: str) -> Application:
    """The response for each path. One scrape is rendered at a time: each keeps the engine's loop waiting."""
    turn = threading.Lock()

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            with turn:
                return metrics(environ, start)
        if path == "/healthz":
            status, text = ("200 OK", "ok") if tallies.alive else (UNAVAILABLE, SILENT)
        elif path == "/readyz":
            why = tallies.why_not_ready(time.time_ns() // 1_000_000) if tallies.alive else SILENT
            status, text = ("200 OK", "ok") if why is None else (UNAVAILABLE, why)
        elif path == "/":
            status, text = "200 OK", index
        else:
            status, text = "404 Not Found", "not found"
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{text}\n".encode()]

    return application


class _Server(ThreadingMixIn, WSGIServer):
    """A slow client holds up neither the others nor the end."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = CONNECTIONS_LIMIT  # with Python's 5, of many that connect at once most wait for a second
    api: Api | None = None

    def __init__(self, address: Address, handler: type[WSGIRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS_LIMIT)
        self._open: dict[socket.socket, None] = {}
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        super().__init__(address, handler)

    def server_bind(self) -> None:
        """Bind the socket like WSGIServer, but without asking the DNS for this machine's full name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection in a thread of its own; where there are too many, in place of the oldest."""
        if not self._free.acquire(blocking=False):
            self._end_oldest()
            if not self._free.acquire(timeout=ENDING_S):
                self.shutdown_request(request)
                return
        self._open[request] = None
        try:
            super().process_request(request, client_address)
        except BaseException:  # there is no thread to be had
            self._ended(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle a connection; then another may come."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._ended(request)

    def _end_oldest(self) -> None:
        """Let the thread of the oldest connection find that its client has gone."""
        if (oldest := next(iter(tuple(self._open)), None)) is not None:
            self._open.pop(oldest, None)
            with contextlib.suppress(OSError):  # it has just ended by itself
                oldest.shutdown(socket.SHUT_RDWR)

    def _ended(self, request: socket.socket) -> None:
        self._open.pop(request, None)
        self._free.release()

    def handle_error(self, *_: Any) -> None:
        """Do nothing: a client that goes away in the middle is no error of ours."""


class _Reader(socket.SocketIO):
    """Reads a request's head from a socket until ``ends_at`` (monotonic, seconds), also where it comes byte by byte."""

    def __init__(self, connection: socket.socket, ends_at: float) -> None:
        super().__init__(connection, "r")
        self._connection, self._ends_at, self._left = connection, ends_at, HEAD_LIMIT

    def readinto(self, buffer: Any) -> int | None:
        """Read what has come into the buffer; how many bytes.

        Raises TimeoutError when the time is over, and HTTPException after more bytes than a request has.
        """
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if self._left <= 0:
            raise HTTPException(f"more than {HEAD_LIMIT:,} bytes")
        self._connection.settimeout(left)
        count = super().readinto(buffer)
        self._left -= count or 0
        return count


class _Handler(WSGIRequestHandler):
    timeout = TIMEOUT_S  # for one read, and for all that is written of an answer
    server: _Server
    raw_requestline: bytes

    def setup(self) -> None:
        """Prepare to handle a request, whose reader ends when its time is over."""
        super().setup()
        self.rfile = io.BufferedReader(_Reader(self.connection, time.monotonic() + TIMEOUT_S))

    def parse_request(self) -> bool:
        """Read the headers; whether the request is left for the application: not where the API answered it."""
        if not super().parse_request():
            return False
        self.connection.settimeout(self.timeout)  # the reader left what was left of its time
        api, target = self.server.api, self._target
        if api is None or not is_asked(target):
            return True
        local_host = str(self.connection.getsockname()[0])
        if self.request_version == "HTTP/0.9":
            answer = problem(400, "bad_request", "HTTP/1.1 or HTTP/1.0 is spoken here")
        else:
            answer = api.answer(Request(self.command, target, self.headers, local_host))
        self.wfile.write(answer.to_bytes(with_body=self.command != "HEAD"))
        return False

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say what is wrong with a request that cannot be read: to who asks the API as JSON."""
        if self.server.api is None or not is_asked(self._target):
            super().send_error(code, message, explain)
            return
        words = HTTPStatus(code)
        answer = problem(code, "bad_request", words.description or words.phrase)
        self.wfile.write(answer.to_bytes(with_body=self.command != "HEAD"))

    @property
    def _target(self) -> str:
        """The target of the request as it was sent: the path of `BaseHTTPRequestHandler` has fewer slashes."""
        words = str(self.raw_requestline, "iso-8859-1").split()
        return words[1] if len(words) > 1 else ""

    def log_message(self, *_: Any) -> None:
        """Log nothing for a scrape."""

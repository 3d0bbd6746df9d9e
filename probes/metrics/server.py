"""The HTTP server that Prometheus scrapes, in threads of its own."""

import io
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from probes.metrics.address import Address
from probes.metrics.metric import Detail, Names
from probes.metrics.scrape import scrape_application
from probes.metrics.tallies import Tallies
from probes.store.status import WAITED_LONG_S

TIMEOUT_S: Final = 5.0
"""How long a client may take to send its request, or to read the response."""

UNAVAILABLE: Final = "503 Service Unavailable"
SILENT: Final = "the engine is silent"
INDEX: Final = f"""\
inftop
/metrics  for Prometheus
/healthz  200 while the engine turns: what restarts it asks here
/readyz   200 while samples are stored, 503 and the reason once they have waited for {WAITED_LONG_S:.0f} s"""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@contextmanager
def serving(address: Address, tallies: Tallies, names: Names = "both", detail: Detail = "basic") -> Iterator[Address]:
    """Serve tallies until the block is left; gives the address, with the port that was chosen. Raises OSError."""
    try:
        server = _Server(address, _Handler)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(address)) from error
    server.set_app(_application(tallies, scrape_application(tallies, names, detail)))
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield Address(address.host, server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _application(tallies: Tallies, metrics: Application) -> Application:
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
            status, text = "200 OK", INDEX
        else:
            status, text = "404 Not Found", "not found"
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{text}\n".encode()]

    return application


class _Server(ThreadingMixIn, WSGIServer):
    """A slow client holds up neither the others nor the end."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: Address, handler: type[WSGIRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        super().__init__(address, handler)

    def server_bind(self) -> None:
        """Bind the socket like WSGIServer, but without asking the DNS for this machine's full name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def handle_error(self, *_: Any) -> None:
        """Do nothing: a client that goes away in the middle is no error of ours."""


class _Reader(socket.SocketIO):
    """Reads a socket until ``ends_at`` (monotonic, seconds), also where a client sends a byte now and then."""

    def __init__(self, connection: socket.socket, ends_at: float) -> None:
        super().__init__(connection, "r")
        self._connection, self._ends_at = connection, ends_at

    def readinto(self, buffer: Any) -> int | None:
        """Read what has come into the buffer; how many bytes. Raises TimeoutError when the time is over."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return super().readinto(buffer)


class _Handler(WSGIRequestHandler):
    timeout = TIMEOUT_S  # for one read, and for all that is written of an answer

    def setup(self) -> None:
        """Prepare to handle a request, whose reader ends when its time is over."""
        super().setup()
        self.rfile = io.BufferedReader(_Reader(self.connection, time.monotonic() + TIMEOUT_S))

    def log_message(self, *_: Any) -> None:
        """Log nothing for a scrape."""

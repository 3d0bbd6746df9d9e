"""Reads the head of a request, by the parser of Python's own server."""

import io
import re
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Final

from probes.metrics.api.messages import Answer, Request, problem

HEAD_LIMIT: Final = 65_536 + 16_384
"""Bytes of a request's line and headers."""

_LINE_LIMIT: Final = 65_536
_END: Final = re.compile(rb"\n\r?\n")


def is_whole(head: bytearray, known: int) -> bool:
    """Whether the head of a request ends in these bytes, or is too long; the first ``known`` were looked at before."""
    if _END.search(head, max(0, known - 2)) is not None:
        return True
    return len(head) > HEAD_LIMIT or len(head) - head.rfind(b"\n") - 1 > _LINE_LIMIT


def read_head(head: bytes, local_host: str) -> Request | Answer | None:
    """The request whose head this is, what is wrong with it, or None where it has no first line."""
    parsed = _Head(head)
    if not parsed.parse_request():
        return parsed.refusal
    if parsed.request_version == "HTTP/0.9":
        return problem(400, "bad_request", "HTTP/1.1 or HTTP/1.0 is spoken here")
    if len(head) > HEAD_LIMIT:
        return _refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    target = str(parsed.raw_requestline, "iso-8859-1").split()[1]  # that of the parser has fewer slashes
    return Request(parsed.command, target, parsed.headers, local_host)


class _Head(BaseHTTPRequestHandler):
    """The parser of a server that has no socket."""

    refusal: Answer | None = None

    def __init__(self, head: bytes) -> None:
        self.rfile = io.BytesIO(head)
        self.raw_requestline = self.rfile.readline(_LINE_LIMIT + 1)

    def parse_request(self) -> bool:
        """Parse the head; whether it is one."""
        if len(self.raw_requestline) > _LINE_LIMIT:
            self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
            return False
        return super().parse_request()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Keep what is wrong, for the answer."""
        self.refusal = _refusal(HTTPStatus(code))


def _refusal(status: HTTPStatus) -> Answer:
    return problem(status, "bad_request", status.description or status.phrase)

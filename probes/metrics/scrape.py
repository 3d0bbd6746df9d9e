"""What a scrape is answered: text, or protobuf with native histograms, compressed where that is taken."""

import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from prometheus_client import make_wsgi_app
from prometheus_client.exposition import gzip_accepted

from probes.metrics import protobuf
from probes.metrics.metric import Detail, Names
from probes.metrics.prometheus import registry
from probes.metrics.tallies import Tallies

_GZIP: Final = 31
"""The window bits by which zlib writes a gzip member."""


def scrape_application(
    tallies: Tallies, names: Names, detail: Detail
) -> Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]:
    """A WSGI application that tells the tallies, in the format that the scraper would rather have."""
    text = make_wsgi_app(registry(tallies, names, detail))

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "GET" or not protobuf.accepted(environ.get("HTTP_ACCEPT", "")):
            return text(environ, start)  # type: ignore[no-any-return]
        body, headers = protobuf.rendered(tallies, names, detail), [("Content-Type", protobuf.CONTENT_TYPE)]
        if gzip_accepted(environ.get("HTTP_ACCEPT_ENCODING", "")):
            body = zlib.compress(body, wbits=_GZIP)
            headers.append(("Content-Encoding", "gzip"))
        start("200 OK", headers)
        return [body]

    return application

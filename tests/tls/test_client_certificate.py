"""A server that wants a client certificate: TLS 1.3 says so only after the handshake, over the connection then open."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.tls.context import tls_context
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.samples import endpoint
from tests.servers.raw_server import Client, answering, probed, response, serving

NGINX = (
    b"<html>\r\n<head><title>400 No required SSL certificate was sent</title></head>\r\n<body>\r\n"
    b"<center><h1>400 Bad Request</h1></center>\r\n<center>No required SSL certificate was sent</center>\r\n"
    b"<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n"
)


def demanding(folder: Path, version: ssl.TLSVersion) -> tuple[ssl.SSLContext, Path]:
    """A server's context that wants a client certificate, and the file of the authority that vouches for the server."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = version
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    path = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return context, path


@contextmanager
def listening(context: ssl.SSLContext) -> Iterator[int]:
    """A server that shakes hands and closes; its port. asyncio's own would not send its alerts."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    sock, _ = server.accept()
                    with sock, suppress(OSError), context.wrap_socket(sock, server_side=True) as secured:
                        secured.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(60)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses_ws"])
async def test_a_certificate_that_is_wanted_and_not_there_is_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: ssl.TLSVersion, dialect: str
):
    context, authority = demanding(tmp_path, version)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with listening(context) as port:
        url = f"{'wss' if dialect.endswith('_ws') else 'https'}://localhost:{port}/v1"
        watched, tls = endpoint(dialect=dialect, base_url=url), tls_context()
        for _ in range(50):  # alert, reset and the failure of our own write may come in any order
            prober = Prober(watched, load_dialect(dialect), transport_to(url, tls))
            sample = (await prober.probe(None)).sample
            prober.close()
            assert sample.outcome is Outcome.TLS, sample.outcome_detail
            assert "client certificate" in (sample.outcome_detail or "")


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("openai_chat", "right behind the TLS handshake; if it wants a client certificate: client_cert = "),
        ("openai_responses_ws", "upgrade: the connection closed before a response"),
    ],
)
async def test_a_server_that_closes_without_an_alert_may_want_one(tmp_path, monkeypatch, dialect, words):
    monkeypatch.setattr("probes.sockets.idle.PROMPT_NS", 60 * 10**9)  # this machine may be busy
    context, authority = demanding(tmp_path, ssl.TLSVersion.TLSv1_3)  # asyncio's, as uvicorn's and so vLLM's
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    async with serving(answering(response(200)), context) as port:
        url = f"{'wss' if dialect.endswith('_ws') else 'https'}://localhost:{port}/v1"
        prober = Prober(
            endpoint(dialect=dialect, base_url=url), load_dialect(dialect), transport_to(url, tls_context())
        )
        sample = (await prober.probe(None)).sample
        prober.close()
    assert sample.outcome in {Outcome.CUT, Outcome.CONNECT}
    assert words in (sample.outcome_detail or "")


async def test_a_tls_server_that_closes_later_is_cut_and_no_more(tmp_path, monkeypatch):
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))

    async def script(client: Client) -> None:
        await client.request()
        await client.say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndata")

    async with serving(script, context) as port:
        url = f"https://localhost:{port}/v1"
        prober = Prober(endpoint(base_url=url), load_dialect("openai_chat"), transport_to(url, tls_context()))
        sample = (await prober.probe(None)).sample
        prober.close()
    assert (sample.outcome, "client_cert" in (sample.outcome_detail or "")) == (Outcome.CUT, False)


async def test_a_proxy_that_says_so_in_a_page_is_tls_too():
    sample = await probed(answering(response(400, "Content-Type: text/html", body=NGINX)))
    assert (sample.outcome, sample.http_status) == (Outcome.TLS, 400)
    assert "certificate" in (sample.outcome_detail or "")

"""What a TLS session fails by, in words: real handshakes with servers set up wrong, and bytes as servers send them."""

import asyncio
import datetime
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import trustme

from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.tls.context import tls_context
from probes.tls.errors import HTTP2_ONLY, USE_HTTPS, not_http1, wants_tls
from probes.transport.base import SetupError
from probes.transport.connect import Peer, open_stream
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.samples import endpoint
from tests.sockets.pairs import plenty

PLAIN = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
SETTINGS = bytes.fromhex("000012040000000000000300000080000400010000000500ffffff")  # nghttp2's first frame
ALERT = bytes.fromhex("15030300020246")  # fatal, protocol_version
NGINX = (
    b"<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n<body>\r\n</html>\r\n"
)
GO = b"Client sent an HTTP request to an HTTPS server.\n"


@asynccontextmanager
async def answering(answer: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server that reads something, answers with bytes and closes."""

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):  # a client that goes
            sock, _ = listening.accept()
            with sock, tls.wrap_socket(sock, server_side=True) if tls else sock as secured:  # asyncio sends no alerts
                secured.recv(1 << 16)
                secured.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.create_task(asyncio.to_thread(serve, listening))
        yield listening.getsockname()[1]
        await serving


def server_of(authority: trustme.CA, *names: str, **options) -> ssl.SSLContext:
    """A server's context with a certificate for these names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names, **options).configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    context.set_alpn_protocols(["http/1.1"])
    return context


async def failure(port: int, context: ssl.SSLContext, host: str = "localhost") -> tuple[Outcome, str]:
    with pytest.raises(SetupError) as caught:
        await open_stream(Peer(host, port, context), plenty())
    return caught.value.outcome, caught.value.detail


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_certificate_for_another_host_names_the_hosts_it_is_for(version):
    authority = trustme.CA()
    context = server_of(authority, "api.example", "www.api.example", "a.example", "b.example", "c.example")
    context.maximum_version = version
    async with answering(b"", context) as port:
        outcome, detail = await failure(port, trusting(authority))
    assert outcome is Outcome.TLS
    assert "certificate: for api.example, " in detail
    assert "and 1 more, not for localhost" in detail


async def test_an_expired_certificate_says_since_when_and_what_day_it_is_here():
    authority = trustme.CA()
    late = datetime.datetime(2020, 2, 3, tzinfo=datetime.UTC)
    async with answering(b"", server_of(authority, "localhost", common_name="shop", not_after=late)) as port:
        outcome, detail = await failure(port, trusting(authority))
    assert outcome is Outcome.TLS
    assert detail.startswith("certificate: expired 2020-02-03 (today is 2")
    assert "'shop', issued by" in detail


async def test_a_certificate_that_is_not_valid_yet_says_from_when():
    authority = trustme.CA()
    context = server_of(authority, "localhost", not_before=datetime.datetime(2999, 1, 1, tzinfo=datetime.UTC))
    async with answering(b"", context) as port:
        outcome, detail = await failure(port, trusting(authority))
    assert outcome is Outcome.TLS
    assert detail.startswith("certificate: valid only from 2999-01-01 (today is 2")


async def test_an_unknown_authority_is_named_with_what_would_trust_it():
    authority = trustme.CA(organization_name="Corporate Interception")
    async with answering(b"", server_of(authority, "localhost", common_name="shop")) as port:
        outcome, detail = await failure(port, ssl.create_default_context())
    assert outcome is Outcome.TLS
    assert detail.startswith("certificate: its authority is not trusted: 'shop', issued by ")
    assert 'ca = "/path/to/authority.pem"' in detail


async def test_a_self_signed_certificate_is_told_as_such(tmp_path):
    authority = trustme.CA(organization_name="home lab")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.private_key_pem.write_to_path(str(tmp_path / "both.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "both.pem"), append=True)
    context.load_cert_chain(tmp_path / "both.pem")
    async with answering(b"", context) as port:
        outcome, detail = await failure(port, ssl.create_default_context())
    assert outcome is Outcome.TLS
    assert detail.startswith("certificate: self-signed: 'Testing CA #")
    assert detail.endswith('; ca = "/path/to/it.pem" trusts it')


async def test_a_server_without_a_cipher_in_common_is_told_as_such():
    authority = trustme.CA()
    context = server_of(authority, "localhost")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256")
    client = trusting(authority)
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    client.set_ciphers("DHE-RSA-AES256-GCM-SHA384")
    async with answering(b"", context) as port:
        assert await failure(port, client) == (Outcome.TLS, "no cipher or signature in common with the server")


async def test_a_server_of_an_old_version_is_told_as_such():
    authority = trustme.CA()
    context = server_of(authority, "localhost")
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    client = trusting(authority)
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    async with answering(b"", context) as port:
        assert await failure(port, client) == (Outcome.TLS, "the server speaks neither TLS 1.2 nor TLS 1.3")


async def test_a_server_that_wants_a_certificate_of_ours_says_so_with_the_option():
    authority = trustme.CA()
    context = server_of(authority, "localhost")
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # TLS 1.3 says so after the handshake
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    async with answering(b"", context) as port:
        outcome, detail = await failure(port, trusting(authority))
    assert outcome is Outcome.TLS
    assert detail.startswith("the server wants a client certificate (handshake failure): client_cert = ")


async def test_a_server_hello_of_tls_1_0_is_told_as_an_old_version():
    hello = bytes.fromhex("0301") + bytes(32) + bytes.fromhex("00002f00")
    message = b"\x02" + len(hello).to_bytes(3, "big") + hello
    async with answering(b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message) as port:
        assert await failure(port, tls_context()) == (Outcome.TLS, "the server speaks neither TLS 1.2 nor TLS 1.3")


@pytest.mark.parametrize(
    ("alert", "outcome", "words"),
    [
        (120, Outcome.PROTOCOL, HTTP2_ONLY),
        (112, Outcome.TLS, "the server knows no host named localhost"),
        (70, Outcome.TLS, "the server speaks neither TLS 1.2 nor TLS 1.3"),
        (40, Outcome.TLS, "no cipher or signature in common with the server"),
        (80, Outcome.TLS, "internal error"),
    ],
)
async def test_an_alert_that_is_the_whole_answer_is_told_in_words(alert, outcome, words):
    async with answering(bytes([0x15, 3, 3, 0, 2, 2, alert])) as port:
        assert await failure(port, tls_context()) == (outcome, words)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (PLAIN, "the server answers in plain HTTP: use http://"),
        (SETTINGS, "the server answers in plain HTTP/2, which inftop does not speak"),
        (b"SSH-2.0-OpenSSH_9.2\x1b[31m\r\n", "no TLS: the server says 'SSH-2.0-OpenSSH_9.2'"),
    ],
)
async def test_what_is_no_tls_is_told_by_what_came(answer, words):
    async with answering(answer) as port:
        assert await failure(port, tls_context()) == (Outcome.TLS, words)


async def test_http_1_is_offered_so_that_a_server_of_http_2_alone_refuses_it(tmp_path, monkeypatch):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    context = server_of(authority, "localhost")
    context.set_alpn_protocols(["h2", "http/1.1"])
    chosen = []

    def serve(listening: socket.socket) -> None:
        sock, _ = listening.accept()
        with sock, context.wrap_socket(sock, server_side=True) as secured:
            chosen.append(secured.selected_alpn_protocol())

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.create_task(asyncio.to_thread(serve, listening))
        stream, _ = await open_stream(Peer("localhost", listening.getsockname()[1], tls_context()), plenty())
        await serving
        stream.abort()
    assert chosen == ["http/1.1"]


async def probed(url: str, dialect: str = "openai_chat") -> tuple[Outcome, str | None]:
    one = endpoint(base_url=url, dialect=dialect)
    prober = Prober(one, load_dialect(one.dialect), transport_to(url, None))
    try:
        sample = (await prober.probe(None)).sample
    finally:
        prober.close()
    return sample.outcome, sample.outcome_detail


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (ALERT, USE_HTTPS),
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%b" % (len(NGINX), NGINX), USE_HTTPS),
        (b"HTTP/1.0 400 Bad Request\r\n\r\n" + GO, USE_HTTPS),
        (SETTINGS, HTTP2_ONLY),
        (b"HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\n\r\n", f"{HTTP2_ONLY} (HTTP 505)"),
        (
            b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
            f"{HTTP2_ONLY} (HTTP 426)",
        ),
    ],
)
async def test_a_plain_request_to_what_wants_something_else_says_what(answer, detail):
    async with answering(answer) as port:
        assert await probed(f"http://127.0.0.1:{port}/v1") == (Outcome.PROTOCOL, detail)


@pytest.mark.parametrize(("answer", "detail"), [(ALERT, "the server wants TLS: use wss://"), (SETTINGS, HTTP2_ONLY)])
async def test_a_plain_upgrade_at_what_wants_something_else_says_what(answer, detail):
    async with answering(answer) as port:
        assert await probed(f"ws://127.0.0.1:{port}/v1", "openai_responses_ws") == (Outcome.PROTOCOL, detail)


def test_other_bytes_and_other_errors_are_left_as_they_are():
    assert not_http1(b"\x15\x02\x03") is None
    assert not_http1(b"\x00\x00\x12\x00\x00\x00\x00\x00\x01") is None
    assert not wants_tls(403, NGINX)
    assert not wants_tls(400, b'{"error": "http"}')

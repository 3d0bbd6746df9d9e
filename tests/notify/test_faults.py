"""Every fault of a server that is told, for each kind of channel: the right outcome, and no secret anywhere."""

import logging
import socket

import pytest

from probes.notify import http_request
from probes.notify.channels import deliver
from probes.route import Route, TlsOptions
from probes.tls.context import TlsContexts
from tests.notify.messages import PATH, channel, leaks, message, plant
from tests.servers.certificate import server_context
from tests.servers.sinks import ACCEPTED, DOUBTS, HANGS, OK, REFUSALS, TAKEN, sink

KINDS = ("webhook", "pagerduty", "alertmanager")
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def impatient(monkeypatch, request):
    """Impatient where the server hangs; any other answer may take its time on a busy machine."""
    fault = getattr(request.node, "callspec", None) and request.node.callspec.params.get("fault")
    monkeypatch.setattr(http_request, "LIMIT_S", 0.3 if fault in HANGS else 60.0)
    monkeypatch.setattr(http_request, "CONNECT_S", 60.0)
    monkeypatch.setattr(http_request, "BODY_S", 0.2)


@pytest.fixture
def attempt(monkeypatch, caplog):
    """What an attempt to deliver to an origin comes to; no secret may be said on the way."""
    caplog.set_level(logging.DEBUG)

    async def attempt(origin, kind="webhook", **words):
        plant(monkeypatch, origin)
        result = await deliver(channel(kind, **words), message(), TlsContexts())
        assert leaks(result, caplog.text) == []
        return result

    return attempt


@each_kind
@pytest.mark.parametrize("fault", REFUSALS)
async def test_what_refuses_is_no_delivery(attempt, kind, fault):
    async with sink(REFUSALS[fault]) as server:
        result = await attempt(server.origin, kind)
        assert (result.delivered, result.maybe, len(server.told)) == (False, False, 1)
        assert result.problem.startswith("HTTP ")


@each_kind
@pytest.mark.parametrize("fault", DOUBTS)
async def test_what_leaves_it_open_may_be_a_delivery(attempt, kind, fault):
    async with sink(DOUBTS[fault]) as server:
        result = await attempt(server.origin, kind)
        assert (result.delivered, result.maybe, len(server.told)) == (False, True, 1)


@pytest.mark.parametrize("kind", ["webhook", "alertmanager"])
@pytest.mark.parametrize("answer", TAKEN)
async def test_any_2xx_is_a_delivery(attempt, kind, answer):
    async with sink(TAKEN[answer]) as server:
        assert (await attempt(server.origin, kind)).delivered


@pytest.mark.parametrize(
    ("answer", "delivered", "maybe"),
    [
        (ACCEPTED, True, False),
        (b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", True, False),
        (b"HTTP/1.1 202 Accepted\r\nContent-Length: 900\r\n\r\n{", True, False),
        (OK, False, True),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n{"status":"invalid event"}', False, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", False, True),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"status":"success"}', True, False),
    ],
)
async def test_pagerduty_takes_an_event_by_saying_so(attempt, answer, delivered, maybe):
    async with sink(answer) as server:
        result = await attempt(server.origin, "pagerduty")
        assert (result.delivered, result.maybe) == (delivered, maybe)


async def test_why_pagerduty_refuses_is_said_without_the_key(attempt):
    body = b'{"status":"invalid event","errors":["routing_key r0ut1ngK3yR0ut1ngK3yR0ut1ngK3y01 is \\u001b[31mwrong"]}'
    head = f"HTTP/1.1 400 Bad\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with sink(head + body) as server:
        result = await attempt(server.origin, "pagerduty")
        assert result.problem == "HTTP 400: routing_key [key] is wrong"


@each_kind
async def test_nobody_there(attempt, kind):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        result = await attempt(f"http://127.0.0.1:{reserved.getsockname()[1]}", kind)
    assert (result.delivered, result.maybe) == (False, False)


async def test_no_such_host(attempt):
    result = await attempt("http://nobody.invalid")
    assert (result.delivered, result.maybe) == (False, False)


@each_kind
async def test_a_certificate_that_nobody_vouches_for(attempt, kind, tmp_path):
    context, _ = server_context(tmp_path)
    async with sink(ACCEPTED, tls=context) as server:
        result = await attempt(server.origin, kind)
        assert (result.delivered, result.maybe, server.told) == (False, False, [])


@each_kind
async def test_a_certificate_of_an_authority_that_the_channel_trusts(attempt, kind, tmp_path):
    context, authority = server_context(tmp_path)
    async with sink(ACCEPTED, tls=context) as server:
        assert (await attempt(server.origin, kind, route=Route(tls=TlsOptions(ca=str(authority))))).delivered


async def test_a_server_without_tls_where_tls_is_asked_for(attempt, monkeypatch):
    monkeypatch.setattr(http_request, "CONNECT_S", 1.0)  # the server waits for the end of a line
    async with sink() as server:
        result = await attempt(server.origin.replace("http://", "https://"))
        assert (result.delivered, result.maybe, server.told) == (False, False, [])


async def test_what_a_server_echoes_of_the_address_is_hidden(attempt):
    body = f"no such hook: {PATH}".encode()
    async with sink(b"HTTP/1.1 404 No\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as server:
        assert (await attempt(server.origin)).problem.startswith("HTTP 404: no such hook: ")


async def test_a_redirect_is_said_and_its_target_is_not(attempt):
    async with sink() as other, sink(b"HTTP/1.1 307 T\r\nLocation: %s/\r\n\r\n" % other.origin.encode()) as server:
        result = await attempt(server.origin)
        assert result.problem == "HTTP 307: the address is elsewhere now, and redirects are not followed"
        assert other.told == []


@pytest.mark.parametrize(("said", "wait"), [("30", 30), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("999999", 3600)])
async def test_a_wait_that_is_asked_for_is_kept(attempt, said, wait):
    async with sink(f"HTTP/1.1 429 No\r\nRetry-After: {said}\r\nContent-Length: 0\r\n\r\n".encode()) as server:
        assert (await attempt(server.origin)).retry_after == wait


@pytest.mark.parametrize("url", ["ftp://host/x", "no address", "http:///x", "http://[::1", "http://h:99999/", "//h/x"])
@each_kind
async def test_what_is_no_address_is_said_by_its_name(monkeypatch, kind, url):
    plant(monkeypatch, "http://x")
    monkeypatch.setenv("SINK_URL", url)
    result = await deliver(channel(kind), message(), TlsContexts())
    assert (result.delivered, result.maybe) == (False, False)
    assert "SINK_URL" in result.problem
    assert url not in result.problem


@each_kind
async def test_a_key_that_is_not_found_is_said_by_its_name(monkeypatch, kind):
    plant(monkeypatch, "http://127.0.0.1:9")
    monkeypatch.delenv(channel(kind).secret)
    result = await deliver(channel(kind), message(), TlsContexts())
    assert result.problem.startswith(f"{channel(kind).secret} is not in the environment and not in the keyring")

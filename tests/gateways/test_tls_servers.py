"""nginx and haproxy as TLS servers set up in their own ways: client certificates, strict names, HTTP/2, wrong ports."""

from contextlib import asynccontextmanager

import pytest
import trustme

from probes.simulator.server import Simulator
from probes.tls.errors import HTTP2_ONLY, USE_HTTPS
from tests.gateways.probed import probed
from tests.gateways.programs import haproxy, nginx
from tests.gateways.test_proxies import QUIET, SIM, endpoint, up
from tests.servers.ports import free_port


@asynccontextmanager
async def serving(folder, program, server: str):
    """The port of nginx or haproxy with this server (``{port}``, ``{upstream}``, ``{folder}``) and a certificate."""
    authority, port = trustme.CA(), free_port()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    authority.issue_cert("me@example.org").private_key_and_cert_chain_pem.write_to_path(str(folder / "client.pem"))
    async with Simulator({"sim": SIM}) as simulator:
        named = {"{port}": str(port), "{upstream}": simulator.origin, "{folder}": str(folder)}
        for name, value in named.items():
            server = server.replace(name, value)
        async with up(program(server, folder, port)):
            yield port


NGINX = """
ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.pem;
location / { proxy_pass {upstream}; }
"""


async def told(port: int, folder, *options: str, scheme: str = "https") -> tuple[str, str]:
    (one,) = await probed(endpoint(f"{scheme}://localhost:{port}/v1", *options), folder, environment=QUIET)
    return one["outcome"], one["outcome_detail"] or ""


async def test_nginx_wants_tls_where_it_is_asked_in_plain(tmp_path):
    async with serving(tmp_path, nginx, "listen 127.0.0.1:{port} ssl; " + NGINX) as port:
        assert await told(port, tmp_path, scheme="http") == ("protocol", USE_HTTPS)
        assert (await told(port, tmp_path, 'ca = "ca.pem"'))[0] == "ok"


async def test_nginx_in_plain_is_told_where_it_is_asked_for_tls(tmp_path):
    async with serving(tmp_path, nginx, "listen 127.0.0.1:{port}; location / { proxy_pass {upstream}; }") as port:
        assert await told(port, tmp_path) == ("tls", "the server answers in plain HTTP: use http://")


async def test_nginx_of_http_2_alone_in_plain_is_told_as_such(tmp_path):
    async with serving(tmp_path, nginx, "listen 127.0.0.1:{port} http2; return 200;") as port:
        assert await told(port, tmp_path, scheme="http") == ("protocol", HTTP2_ONLY)


async def test_nginx_takes_a_client_certificate(tmp_path):
    wants = "ssl_client_certificate {folder}/ca.pem; ssl_verify_client on; "
    async with serving(tmp_path, nginx, "listen 127.0.0.1:{port} ssl; " + wants + NGINX) as port:
        assert (await told(port, tmp_path, 'ca = "ca.pem"', 'client_cert = "client.pem"'))[0] == "ok"
        outcome, detail = await told(port, tmp_path, 'ca = "ca.pem"')
        words = '400 No required SSL certificate was sent: client_cert = "/path/to/file.pem"'
        assert (outcome, detail) == ("tls", words)  # in a page: the handshake was good


HAPROXY = """
frontend f
  bind 127.0.0.1:{port} ssl {options}
  http-request return status 200
"""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "crt {folder}/server.pem verify required ca-file {folder}/ca.pem ssl-max-ver TLSv1.2",
            "the server wants a client certificate",
        ),
        (
            "crt {folder}/server.pem verify required ca-file {folder}/ca.pem ssl-min-ver TLSv1.3",
            "the server wants a client certificate",
        ),
        ("crt {folder}/client.pem strict-sni", "the server knows no host named localhost"),
    ],
)
async def test_haproxy_is_told_by_what_it_wants(tmp_path, options, words):
    async with serving(tmp_path, haproxy, HAPROXY.replace("{options}", options)) as port:
        outcome, detail = await told(port, tmp_path, 'ca = "ca.pem"')
    assert (outcome, detail[: len(words)]) == ("tls", words)

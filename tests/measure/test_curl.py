"""The curl command of a probe: what is sent, as a shell would take it apart; no key is in it."""

import json
import shlex
import subprocess

import pytest

from probes.endpoint import HeaderKey, KeyHeader
from probes.measure.curl import curl
from probes.route import Route, TlsOptions
from tests.samples import endpoint

KEY = "sk-planted-0123456789abcdef"


def words(**fields):
    return shlex.split(curl(endpoint(**fields), "abc123"))


def after(found, option):
    return [found[place + 1] for place, word in enumerate(found) if word == option]


def test_it_sends_the_streamed_body_with_its_nonce_to_the_address_of_the_dialect():
    found = words(prompt='It\'s $HOME `date` "quoted"', max_output_tokens=77)
    assert found[:4] == ["curl", "--no-buffer", "--globoff", "--request"]
    assert found[4:6] == ["POST", "http://127.0.0.1:1/v1/chat/completions"]
    (body,) = after(found, "--data-raw")
    sent = json.loads(body)
    assert sent["stream"] is True
    assert sent["model"] == "model"
    assert sent["messages"][-1]["content"].startswith('[abc123] It\'s $HOME `date` "quoted"')


def test_the_key_is_a_variable_of_its_name_wherever_it_goes():
    assert "--header 'authorization: Bearer '\"$GROQ_API_KEY\"" in curl(endpoint(keys=("GROQ_API_KEY",)), "n")
    elsewhere = endpoint(keys=("MY_KEY",), key_header=KeyHeader("X-Key", "Token "))
    assert "'x-key: Token '\"$MY_KEY\"" in curl(elsewhere, "n")
    assert "authorization" not in curl(elsewhere, "n")
    more = endpoint(header_keys=(HeaderKey("CF-Access", "", "CF_TOKEN"),))
    assert "'cf-access: '\"$CF_TOKEN\"" in curl(more, "n")


@pytest.mark.parametrize("dialect", ["anthropic", "gemini", "ollama", "openai_responses", "openai_completions"])
def test_every_dialect_that_speaks_http_has_one(dialect):
    assert '"$SOME_KEY"' in curl(endpoint(dialect=dialect, keys=("SOME_KEY",)), "n") or dialect == "ollama"


def test_what_looks_like_a_key_in_plain_values_is_none_in_the_command():
    told = curl(
        endpoint(
            headers={"x-team": "blue", "x-api-key": KEY, "x-note": f"--token={KEY}"},
            query={"api-version": "2", "sig": KEY},
            body={"user": {"secret": KEY}, "top_p": 1, "tools": [{"authorization": KEY, "kind": "mcp"}], "stop": [KEY]},
            base_url=f"http://me:{KEY}@127.0.0.1:1/v1",
        ),
        "n",
    )
    assert KEY not in told
    assert "x-team: blue" in told
    assert "api-version=2" in told
    named = ('"$X_API_KEY"', '"$SIG"', '"$SECRET"', '"$AUTHORIZATION"', '"$STOP"', '"$URL_LOGIN"')
    assert all(name in told for name in named)


def test_a_login_that_is_found_in_the_address_before_it_is_replaced_in_its_own_place():
    assert 'http://"$URL_LOGIN"@127.0.0.1:1/v1' in curl(endpoint(base_url="http://t@127.0.0.1:1/v1"), "n")


def test_a_header_without_a_value_is_written_so_that_curl_sends_it():
    assert "x-empty;" in after(words(headers={"x-empty": ""}), "--header")


def test_proxy_socket_and_certificates():
    through = words(route=Route(proxy="http://proxy:3128", proxy_key="PROXY_KEY", tls=TlsOptions(ca="/etc/my ca.pem")))
    assert after(through, "--proxy") == ["http://proxy:3128"]
    assert after(through, "--proxy-user") == ["$PROXY_KEY"]
    assert after(through, "--cacert") == ["/etc/my ca.pem"]
    assert after(words(route=Route(socket="/run/x.sock")), "--unix-socket") == ["/run/x.sock"]


def test_a_websocket_has_none():
    with pytest.raises(ValueError, match="WebSocket"):
        curl(endpoint(dialect="openai_responses_ws", base_url="ws://127.0.0.1:1/v1"), "n")


def test_a_shell_puts_the_key_in():
    told = curl(endpoint(keys=("A_KEY",), prompt="don't"), "n")
    out = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\n' {told}"], env={"A_KEY": "k1"}, capture_output=True, text=True, check=True
    )
    assert "authorization: Bearer k1" in out.stdout.splitlines()
    assert "don't" in out.stdout

"""Keys and headers of an endpoint: what the options come to, and what is said of wrong ones."""

from pathlib import Path

import pytest

from probes.config.endpoint.keys import may_be_a_secret
from probes.config.load import load
from probes.config_error import ConfigError
from probes.endpoint import HeaderKey, KeyHeader
from probes.keys.command import KeyCommand

ENDPOINT = '[[endpoint]]\nname = "one"\nmodel = "m"\nprovider = "openai"\n'
MAY_BE_A_KEY = "Ab1" + "x" * 17


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text)
        path.chmod(0o600)
        return path

    return write


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        ("", None),
        ('key_header = "api-key"', KeyHeader("api-key", "")),
        ('key_header = "X-API-Key"\nkey_prefix = ""', KeyHeader("X-API-Key", "")),
        ('key_header = "X-Auth"\nkey_prefix = "Token "', KeyHeader("X-Auth", "Token ")),
        ('key_header = "authorization"', KeyHeader("authorization", "Bearer ")),
        ('key_prefix = ""', KeyHeader("Authorization", "")),
        ('key_prefix = "Token "', KeyHeader("Authorization", "Token ")),
    ],
)
def test_a_key_may_go_into_any_header(write, lines, header):
    [one] = load(write(ENDPOINT + lines)).endpoints
    assert (one.key_header, one.keys) == (header, ("OPENAI_API_KEY",))


def test_a_header_takes_a_key_by_its_name_alone_or_after_a_prefix_and_two_dollar_signs_are_one(write):
    [one] = load(
        write(
            ENDPOINT + 'headers = { X-Portkey-Api-Key = "$PORTKEY_API_KEY", Cookie = "session=$COOKIE", '
            'X-Auth = "Bearer $a.b-c", X-Price = "$$5 and $$", '
            'X-Tag = "$$T$TAG", X-Team = "infra", Idempotency-Key = "7" }'
        )
    ).endpoints
    assert one.headers == {"X-Price": "$5 and $", "X-Team": "infra", "Idempotency-Key": "7"}
    assert one.header_keys == (
        HeaderKey("X-Portkey-Api-Key", "", "PORTKEY_API_KEY"),
        HeaderKey("Cookie", "session=", "COOKIE"),
        HeaderKey("X-Auth", "Bearer ", "a.b-c"),
        HeaderKey("X-Tag", "$T", "TAG"),
    )


def test_a_command_prints_the_key_in_place_of_the_providers_name(write, tmp_path):
    [one] = load(write(ENDPOINT + 'key_command = ["gcloud", "auth", "print-access-token"]')).endpoints
    assert (one.keys, one.key_command) == (
        (),
        KeyCommand(("gcloud", "auth", "print-access-token"), tmp_path.resolve(), 2700.0),
    )
    own = '[[endpoint]]\nname = "one"\nmodel = "m"\ndialect = "openai_chat"\nbase_url = "http://h/v1"\n'
    [other] = load(write(own + 'key_command = ["./token"]\nkey_lifetime = "10m"')).endpoints
    assert other.key_command == KeyCommand(("./token",), tmp_path.resolve(), 600.0)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('key_header = "api key"', "key_header: is not a header's name"),
        ('key_header = "Content-Type"', "key_header: Content-Type is set by inftop"),
        ('key_header = "Accept"', "key_header: Accept is set by inftop"),
        ('key_header = "Sec-WebSocket-Key"', "key_header: Sec-WebSocket-Key is set by inftop"),
        ("key_header = 1", "key_header: must be text"),
        ('key_prefix = " x"', "key_prefix: must be at most 40 printable ASCII characters"),
        ('key_prefix = "Bearer é"', "key_prefix: must be at most 40 printable ASCII characters"),
        ('key_prefix = "a\\nb"', "key_prefix: must be at most 40 printable ASCII characters"),
        ('key = "none"\nkey_header = "api-key"', 'key_header: has no key to carry: key is "none"'),
        ('key_header = "api-key"\nheaders = { API-Key = "$OTHER" }', "headers.API-Key: is the header that key_header"),
        ('headers = { X-A = "$A", x-a = "b" }', "headers.x-a: is there twice"),
        ('headers = { X-A = "$A and more" }', 'headers.X-A: has a "$" before what is not the name of a key'),
        ('headers = { X-A = "$A:$B" }', "headers.X-A: may name one key, at its end"),
        ('headers = { X-A = "${A}" }', 'headers.X-A: has a "$" before what is not the name of a key'),
        ('headers = { X-A = "US$" }', 'headers.X-A: has a "$" before what is not the name of a key'),
        ('headers = { Sec-WebSocket-Key = "$A" }', "headers.Sec-WebSocket-Key: is set by inftop"),
        ('key_command = "gcloud auth"', "key_command: must be a list of arguments"),
        ("key_command = []", "key_command: must be a list of texts, the program first"),
        ('key_command = [""]', "key_command: must be a list of texts, the program first"),
        ('key_command = ["a", 1]', "key_command: must be a list of texts, the program first"),
        ('key_command = ["a", "b\\u0000"]', "key_command: must not hold the character 0"),
        ('key_command = ["a"]\nkey = "A_KEY"', "key_command: is beside key: take one of them"),
        ('key_command = ["a"]\nkey = "none"', "key_command: is beside key: take one of them"),
        ('key_lifetime = "5m"', "key_lifetime: is how long the key of a key_command is used, and there is none"),
        ('key_command = ["a"]\nkey_lifetime = "0s"', "key_lifetime: must be 1 s or more"),
    ],
)
def test_what_is_wrong_is_told(write, lines, said):
    with pytest.raises(ConfigError) as caught:
        load(write(ENDPOINT + lines))
    assert said in str(caught.value)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Proxy-Authorization", "Cookie", "api-key", "X-Api-Key", "x-goog-api-key", "apikey"),
        *("X-Auth-Token", "x-amz-security-token", "X-Client-Secret", "Ocp-Apim-Subscription-Key", "Token"),
        *("cf-aig-authorization", "X-Password", "x_api_key", "X-Auth", "X-AccessToken", "X-Pwd", "X-Signature"),
    ],
)
def test_a_plain_value_under_a_secrets_name_is_refused_with_advice_and_not_quoted(write, name):
    with pytest.raises(ConfigError) as caught:
        load(write(ENDPOINT + f'headers = {{ {name} = "planted" }}'))
    assert f"headers.{name}: would carry a key" in str(caught.value)
    assert '"$NAME"' in str(caught.value)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "lines",
    [
        'key_command = ["sh", "sk-planted000"]',
        'key_command = ["sh", "--token=sk-planted000"]',
        'headers = { X-A = "$sk-planted0000" }',
        'headers = { X-A = "Token sk-planted0000" }',
        'headers = { sk-planted0000 = "yes" }',
        'sk-planted0000 = "yes"',
        'base_url = "https://host:sk-planted0000/v1"',
        'base_url = "host/sk-planted0000"',
        'base_url = "https://sk-planted0000\uff03/v1"',
    ],
)
def test_a_key_in_place_of_a_name_or_an_argument_is_refused_and_not_quoted(write, lines):
    with pytest.raises(ConfigError) as caught:
        load(write(ENDPOINT + lines))
    assert "planted" not in str(caught.value)


def test_a_name_that_would_move_the_cursor_is_shown_as_one_plain_line(write):
    with pytest.raises(ConfigError) as caught:
        load(write(ENDPOINT + 'headers = { "a\\n\\u001b[2Jb" = "c" }'))
    assert str(caught.value).count("\n") == 0
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["X-Team", "anthropic-beta", "cf-aig-cache-key", "X-Max-Tokens", "X-Keyspace", "X-Author", "X-Bypass"]
)
def test_a_plain_value_under_another_name_is_sent_as_it_is(write, name):
    assert load(write(ENDPOINT + f'headers = {{ {name} = "infra-7" }}')).endpoints[0].headers == {name: "infra-7"}


@pytest.mark.parametrize(
    ("value", "may_be"),
    [
        (MAY_BE_A_KEY, True), (MAY_BE_A_KEY[:-1], False), ("x" * 20, False), ("a1" * 20, False), ("A1" * 20, False),
        ("AbcdefghijAbcdefghijX", False), ("Zq7hVx2LrT9wKe4Nb8Gm3P", True), ("", False),
    ],
)  # fmt: skip
def test_a_long_mixed_value_may_be_a_secret(value, may_be):
    assert may_be_a_secret(value) is may_be

"""An endpoint from options of a command line: what a URL means, and what is wrong with which option."""

import pytest

from probes.config.endpoint.given import Address, address_of, given_endpoint
from probes.config_error import ConfigError
from probes.endpoint import Endpoint


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://api.groq.com", Address("https://api.groq.com/openai/v1", "openai_chat", "groq")),
        ("https://api.groq.com/openai/v1/", Address("https://api.groq.com/openai/v1", "openai_chat", "groq")),
        ("http://api.groq.com", Address("http://api.groq.com", None)),  # not encrypted: no place for the key
        ("http://api.groq.com:443", Address("http://api.groq.com:443", None)),
        ("https://api.groq.com.example", Address("https://api.groq.com.example", None)),
        (
            "https://api.openai.com/v1/responses",
            Address("https://api.openai.com/v1", "openai_responses", "openai-responses"),
        ),
        ("http://127.0.0.1:8000", Address("http://127.0.0.1:8000/v1", "openai_chat", "vllm")),
        ("http://[::1]:11434/api/chat", Address("http://[::1]:11434", "ollama", "ollama-native")),
        ("http://gpu:9000/v1/chat/completions", Address("http://gpu:9000/v1", "openai_chat")),
        ("http://gpu:9000/x/v1/completions", Address("http://gpu:9000/x/v1", "openai_completions")),
        ("https://api.openai.com/v1/other", Address("https://api.openai.com/v1/other", None)),
    ],
)
def test_what_a_url_means(url, address):
    assert address_of(url) == address


def test_a_dialect_that_is_named_chooses_among_the_presets_of_an_address():
    assert address_of("http://localhost:11434", "ollama") == Address(
        "http://localhost:11434", "ollama", "ollama-native"
    )


def test_a_provider_and_a_model_are_enough():
    one = given_endpoint(provider="groq", model="llama")
    assert (one.name, one.keys, one.dialect, one.quirks.max_tokens_field) == (
        "groq/llama", ("GROQ_API_KEY",), "openai_chat", "max_completion_tokens",
    )  # fmt: skip


def test_a_key_goes_only_where_its_provider_is_or_the_provider_is_named():
    def keys(**options: str) -> tuple[str, ...]:
        return given_endpoint(model="m", **options).keys

    assert keys(url="https://api.groq.com/openai/v1") == ("GROQ_API_KEY",)
    assert keys(url="https://other.example/v1/chat/completions") == ()
    assert keys(url="https://other.example/v1", provider="groq") == ("GROQ_API_KEY",)
    assert keys(url="https://other.example/v1", dialect="anthropic", key="MY_KEY") == ("MY_KEY",)
    assert keys(url="https://api.groq.com/openai/v1", key="none") == ()


def test_the_file_of_a_socket():
    one = given_endpoint(url="unix:///run/server.sock:/v1", dialect="openai_chat", model="m")
    assert (one.route.socket, one.base_url) == ("/run/server.sock", "http://localhost/v1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"url": "ftp://x"}, "--url: must be an http://"),
        (
            {"url": "http://gpu:9000/v1"},
            "--url: what it speaks is not known: add --provider, or --dialect (openai_chat",
        ),
        ({"url": "http://gpu:9000/v1", "dialect": "openai"}, "--dialect: 'openai' is not known; did you mean"),
        ({"provider": "grok"}, "--provider: 'grok' is not known; did you mean 'groq'?"),
        ({"provider": "groq", "model": " "}, "--model: must not be empty"),
        ({"provider": "groq", "key": "sk-planted-0123456789"}, "--key-env: is not the name of a key"),
        ({"provider": "groq", "url": "https://user:pw@x/v1"}, "--url: must not hold a user or password"),
    ],
)
def test_a_wrong_option_is_named_in_one_line(options, words):
    with pytest.raises(ConfigError) as caught:
        given_endpoint(**{"model": "m", **options})
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
    assert "planted" not in str(caught.value)


def test_hostile_names_of_models_are_refused():
    with pytest.raises(ConfigError, match="--model: must be one line"):
        given_endpoint(provider="groq", model="a\x1b[2Jb")
    assert isinstance(given_endpoint(provider="groq", model='[red]"x"'), Endpoint)

"""Lists of models in every shape there is, and bodies that are none."""

import json

import pytest

from probes.models.model import Model
from probes.models.parse import LONGEST_ID, MOST_MODELS, NotAList, parse_page, parse_upstream


def models(body):
    return parse_page(json.dumps(body).encode()).models


def only(entry):
    (model,) = models({"object": "list", "data": [entry]})
    return model


def test_openai_says_an_id_and_when_it_was_made():
    page = {"object": "list", "data": [{"id": "gpt-9", "object": "model", "created": 1686935002, "owned_by": "openai"}]}
    assert models(page) == (Model("gpt-9", created="2023-06-16T17:03:22Z"),)


def test_openrouter_has_names_context_and_prices_of_a_token():
    entry = {
        "id": "z-ai/glm-9",
        "name": "Z.AI: GLM 9",
        "created": 1753471347,
        "context_length": 202752,
        "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
        "pricing": {"prompt": "0.00000015", "completion": "0.0000006", "image": "0"},
        "top_provider": {"context_length": 131072},
    }
    assert only(entry) == Model("z-ai/glm-9", "Z.AI: GLM 9", 202752, 0.15, 0.6, created="2025-07-25T19:22:27Z")


def test_a_price_that_depends_or_is_nonsense_is_not_known():
    assert only({"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}}).input_usd is None
    assert only({"id": "m", "pricing": {"prompt": "1e300", "completion": "x"}}).input_usd is None
    assert only({"id": "m", "pricing": {"prompt": "0", "completion": "0"}}).output_usd == 0
    assert only({"id": "m", "pricing": ["0.1"]}).input_usd is None


def test_prices_of_a_million_tokens_are_told_from_those_of_one():
    assert only({"id": "m", "pricing": {"input": 0.18, "output": 0.59}}).input_usd == 0.18
    assert only({"id": "m", "pricing": {"input": "0.00000018", "output": "0.0006"}}).output_usd == 600
    small = only(
        {"id": "m", "metadata": {"context_length": 8192, "pricing": {"input_tokens": 0.01, "output_tokens": 0.03}}}
    )
    assert (small.input_usd, small.output_usd, small.context) == (0.01, 0.03, 8192)


def test_together_sends_a_bare_list_with_images_in_it():
    body = [
        {"id": "meta/llama", "type": "chat", "display_name": "Llama", "context_length": 131072, "created": 0},
        {"id": "flux", "type": "image"},
        {"id": "e5", "type": "embedding"},
    ]
    assert models(body) == (Model("meta/llama", "Llama", 131072),)


def test_groq_names_the_window_and_what_is_switched_off():
    body = {"data": [{"id": "a", "active": True, "context_window": 131072}, {"id": "b", "active": False}]}
    assert models(body) == (Model("a", context=131072),)


def test_anthropic_pages():
    body = {
        "data": [{"type": "model", "id": "claude-9", "display_name": "Claude 9", "created_at": "2026-02-19T00:00:00Z"}],
        "has_more": True,
        "first_id": "claude-9",
        "last_id": "claude-9",
    }
    page = parse_page(json.dumps(body).encode())
    assert page.models == (Model("claude-9", "Claude 9", created="2026-02-19T00:00:00Z"),)
    assert page.next == {"after_id": "claude-9"}


def test_gemini_names_what_a_model_can_do_and_the_next_page():
    body = {
        "models": [
            {
                "name": "models/gemini-9-flash",
                "displayName": "Gemini 9 Flash",
                "inputTokenLimit": 1048576,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            },
            {"name": "models/embedding-9", "supportedGenerationMethods": ["embedContent"]},
        ],
        "nextPageToken": "t0k",
    }
    page = parse_page(json.dumps(body).encode())
    assert page.models == (Model("gemini-9-flash", "Gemini 9 Flash", 1048576),)
    assert page.next == {"pageToken": "t0k"}


def test_ollama_has_the_quantization_and_null_for_no_models():
    entry = {"name": "qwen9:4b", "model": "qwen9:4b", "size": 3, "details": {"quantization_level": "Q4_K_M"}}
    assert models({"models": [entry]}) == (Model("qwen9:4b", quantization="Q4_K_M"),)
    assert models({"object": "list", "data": None}) == ()
    assert models({"models": []}) == ()


def test_local_servers_name_themselves_and_their_windows():
    vllm = {"id": "Qwen/Q", "owned_by": "vllm", "root": "Qwen/Q", "max_model_len": 32768}
    page = parse_page(json.dumps({"object": "list", "data": [vllm]}).encode())
    assert (page.models[0].context, page.owners) == (32768, {"vllm"})
    llama = {"id": "/models/q.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 40960, "n_params": 7}}
    both = {"models": [{"name": "/models/q.gguf", "model": "/models/q.gguf"}], "object": "list", "data": [llama]}
    assert models(both) == (Model("/models/q.gguf", context=40960),)


def test_lm_studios_own_list():
    entry = {"id": "q", "type": "llm", "quantization": "4bit", "max_context_length": 40960, "state": "loaded"}
    assert only(entry) == Model("q", context=40960, quantization="4bit")
    assert models({"data": [{"id": "nomic", "type": "embeddings"}]}) == ()


def test_mistral_and_fireworks_say_which_models_can_chat():
    body = {
        "data": [
            {"id": "mistral-large", "max_context_length": 131072, "capabilities": {"completion_chat": True}},
            {"id": "mistral-embed", "capabilities": {"completion_chat": False}},
            {"id": "accounts/fireworks/models/flux", "supports_chat": False, "context_length": 77},
        ]
    }
    assert [one.id for one in models(body)] == ["mistral-large"]


def test_one_upstream_of_openrouter_has_a_quantization_and_prices_of_its_own():
    endpoints = [
        {"tag": "deepinfra/fp8", "quantization": "fp8", "context_length": 8, "pricing": {"prompt": "0.0000001"}},
        {"tag": "deepinfra/fp4", "quantization": "fp4", "context_length": 4},
        {"tag": "deepinfra/any", "quantization": "unknown"},
        {"tag": "deepinfra2", "quantization": "int4"},
        {"tag": None},
        7,
    ]
    body = json.dumps({"data": {"id": "z/m", "endpoints": endpoints}}).encode()
    both = Model("z/m@deepinfra", context=8, input_usd=0.1, quantization="fp4, fp8")
    assert parse_upstream(body, "z/m", "deepinfra").models == (both,)
    assert parse_upstream(body, "z/m", "deepinfra/fp4").models[0].quantization == "fp4"
    assert parse_upstream(body, "z/m", "groq").models == ()
    for wrong in (b'{"data": []}', b"<html>", b"[]", b'{"error": {"message": "no"}}'):
        with pytest.raises(NotAList):
            parse_upstream(wrong, "z/m", "groq")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "an empty body"),
        (b"<html>Just a moment...</html>", "not JSON: <html>Just a moment"),
        (b"[" * 100_000, "not JSON"),
        (b'{"error": {"message": "\\u001b[31minvalid key"}}', "invalid key"),
        (b'{"error": "down for maintenance"}', "down for maintenance"),
        (b'{"object": "list"}', "JSON without a list"),
        (b'{"data": {"id": "m"}}', "JSON without a list"),
        (b'"models"', "JSON without a list"),
        (b'{"data": ["m", 3]}', "something else than models"),
    ],
)
def test_what_is_no_list_is_said_in_its_own_words(body, said):
    with pytest.raises(NotAList) as error:
        parse_page(body)
    assert said in str(error.value)
    assert str(error.value).isprintable()


def test_hostile_names_are_left_out_and_the_rest_is_plain():
    bad = ["a\nb", "\x1b]0;title\x07", " ", "", "x" * (LONGEST_ID + 1), 7, None, {"id": "m"}, "‮evil"]
    body = {"data": [*({"id": one} for one in bad), {"id": "[red]m[/red]", "name": "two\nlines\x1b[31m"}]}
    assert models(body) == (Model("[red]m[/red]", "two lines"),)


def test_absurd_values_are_not_known():
    entry = {"id": "m", "context_length": -1, "created": 1e30, "quantization": "unknown", "name": {"a": 1}}
    assert only(entry) == Model("m")
    assert only({"id": "m", "created": float("nan"), "context_length": True}) == Model("m")
    assert only({"id": "m", "created_at": "0001-01-01T00:00:00Z"}) == Model("m")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-02-19T01:30:00+02:00", "2026-02-18T23:30:00Z"),
        ("2026-02-19T01:30:00", "2026-02-19T01:30:00Z"),
        ("2026-02-19", "2026-02-19T00:00:00Z"),
        ("yesterday", None),
        (True, None),
    ],
)
def test_instants_are_in_utc_and_taken_for_it_where_they_have_no_offset(said, meant):
    assert only({"id": "m", "created_at": said}).created == meant


def test_a_model_is_listed_once_and_no_more_than_are_read():
    assert len(models({"data": [{"id": "m"}, {"id": "m", "context_length": 8}]})) == 1
    page = parse_page(json.dumps({"data": [{"id": str(number)} for number in range(MOST_MODELS + 1)]}).encode())
    assert len(page.models) == MOST_MODELS
    assert page.cut


@pytest.mark.parametrize("mark", ["\u200b", "\u200f", "\u00ad", "\ufeff", "\u2028", "\u202e", "\x1b[31m"])
def test_a_name_with_what_is_not_drawn_is_none_for_it_would_look_like_another(mark):
    assert models({"data": [{"id": f"gpt{mark}-9"}, {"id": "glm 9 ü 日本"}]}) == (Model("glm 9 ü 日本"),)


def test_a_price_of_less_than_nothing_is_not_shown_as_minus_nothing():
    assert str(only({"id": "m", "pricing": {"prompt": "-0.0", "completion": 0}}).input_usd) == "0.0"

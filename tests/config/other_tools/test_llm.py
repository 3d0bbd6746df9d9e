"""What the files of llm come to."""

import json

import pytest

from probes.config.other_tools.llm import key_preset, llm_candidates, llm_keys

PLANTED = "sk-planted0123456789abcdef"
KEYS = json.dumps({"// Note": "secret", "openai": PLANTED, "claude": PLANTED, "my box": PLANTED, "bad": "a b"})
MODELS = """
- {model_id: nano, model_name: gpt-5.4-nano, aliases: [n]}
- {model_id: box, model_name: m, api_base: "http://gpu:8080/v1", api_key_name: my box, can_stream: false}
- {model_id: base, model_name: m, api_base: "http://gpu:8080/v1", completion: true}
- model_id: claude
  model_name: anthropic/claude-5
  api_base: https://openrouter.ai/api/v1
  api_key_name: openrouter
  headers: {HTTP-Referer: "https://llm.datasette.io/", X-Title: LLM, Authorization: x}
- {model_id: wrong, api_base: "ftp://x"}
- 7
"""


def test_keys_have_the_names_of_their_providers():
    keys = llm_keys(KEYS)
    names = {name: key.name for name, key in keys.items()}
    assert names == {"openai": "OPENAI_API_KEY", "claude": "ANTHROPIC_API_KEY", "my box": "MY_BOX_API_KEY"}
    assert PLANTED not in repr(keys)
    assert [key_preset(one) for one in ("claude", "groq", "my box", "ollama")] == ["anthropic", "groq", None, None]


def test_extra_models_are_taken_over_with_their_keys_names():
    nano, box, base, claude, wrong, none = llm_candidates(MODELS, llm_keys(KEYS))
    assert nano.values == {"provider": "openai", "model": "gpt-5.4-nano"}
    assert nano.key is not None
    assert nano.key.name == "OPENAI_API_KEY"
    at = {"base_url": "http://gpu:8080/v1"}
    assert box.values == {"model": "m", "dialect": "openai_chat", **at, "key": "MY_BOX_API_KEY"}
    assert box.notes == ("not taken over: can_stream",)
    assert base.values == {"model": "m", "dialect": "openai_completions", **at, "key": "none"}
    assert base.key is None
    headers = {"HTTP-Referer": "https://llm.datasette.io/", "X-Title": "LLM"}
    assert claude.values == {"provider": "openrouter", "model": "anthropic/claude-5", "headers": headers}
    assert claude.notes == ("header Authorization: may be a key, left out",)
    assert "http" in wrong.problem
    assert none.problem == "names no model"


@pytest.mark.parametrize("text", ["a: 1", "a: [", "5"])
def test_what_is_no_list_of_models_is_refused(text):
    with pytest.raises(ValueError, match=r"^is not"):
        llm_candidates(text, {})


def test_a_key_in_the_place_of_its_name_is_passed_over():
    assert llm_keys(json.dumps({PLANTED: "openai", "groq": "gsk-x"})).keys() == {"groq"}

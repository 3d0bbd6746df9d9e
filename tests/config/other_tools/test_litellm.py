"""What a configuration of LiteLLM's proxy comes to, entry by entry."""

import pytest

from probes.config.endpoint.read import ProbeSettings, read_endpoint
from probes.config.other_tools.litellm import litellm_candidates
from probes.config.table import Table

PLANTED = "sk-planted0123456789abcdef"

TEXT = f"""
model_list:
  - model_name: fast
    litellm_params:
      model: groq/openai/gpt-oss-120b
      api_key: os.environ/MY_GROQ
      rpm: 30
      timeout: 30
      input_cost_per_token: 1.5e-07
      output_cost_per_token: 6e-7
  - model_name: fast
    litellm_params: {{model: cerebras/gpt-oss-120b, api_key: {PLANTED}}}
  - model_name: local
    litellm_params: {{model: openai/Qwen/Qwen3-8B, api_base: "http://gpu:8000/v1", api_key: none}}
  - model_name: own
    litellm_params: {{model: hosted_vllm/m, api_base: os.environ/VLLM_BASE}}
  - model_name: azure
    litellm_params:
      model: azure/my-deployment
      api_base: https://my.openai.azure.com/
      api_version: "2026-10-21"
      api_key: os.environ/AZURE_API_KEY
  - model_name: bare
    litellm_params: {{model: claude-sonnet-5}}
  - model_name: bedrock
    litellm_params: {{model: bedrock/anthropic.claude-x, aws_region_name: eu-west-1, aws_secret_access_key: {PLANTED}}}
  - model_name: with-headers
    litellm_params:
      model: openai/gpt-5.4-nano
      organization: org-1
      extra_headers: {{X-Team: infra, api-key: {PLANTED}, X-Other: os.environ/OTHER_KEY}}
  - model_name: shared
    litellm_params: {{model: mistral/mistral-small-latest, litellm_credential_name: c}}
  - model_name: "*"
    litellm_params: {{model: "groq/*"}}
  - model_name: embed
    litellm_params: {{model: openai/text-embedding-3-small}}
    model_info: {{mode: embedding}}
  - model_name: vertex
    litellm_params: {{model: vertex_ai/gemini-3}}
  - model_name: unset
    litellm_params: {{model: openai/m, api_base: os.environ/NOT_SET}}
  - just a text
credential_list:
  - credential_name: c
    credential_values: {{api_key: os.environ/SHARED_KEY}}
litellm_settings: {{drop_params: true}}
general_settings: {{master_key: {PLANTED}}}
"""


@pytest.fixture(scope="module")
def found():
    candidates = litellm_candidates(TEXT, {"VLLM_BASE": "http://localhost:8000/v1"})
    return {one.entry.partition("] ")[2] or one.entry: one for one in candidates}, candidates


def test_providers_models_keys_and_prices_are_taken_over(found):
    _, candidates = found
    first, second = candidates[:2]
    assert first.entry == "model_list[1] fast"
    price = {"input": 0.15, "output": 0.6}
    model = "openai/gpt-oss-120b"
    assert first.values == {"provider": "groq", "model": model, "key": "MY_GROQ", "price": price, "group": "fast"}
    assert first.notes == ("not taken over: rpm, timeout",)
    assert first.key is None
    assert second.values == {"provider": "cerebras", "model": "gpt-oss-120b", "group": "fast"}
    assert second.key is not None
    assert second.key.name == "CEREBRAS_API_KEY"
    assert second.key.secret.reveal() == PLANTED


def test_servers_of_ones_own_are_at_their_address(found):
    named, _ = found
    local = {"model": "Qwen/Qwen3-8B", "dialect": "openai_chat", "base_url": "http://gpu:8000/v1", "key": "none"}
    assert named["local"].values == local
    assert named["own"].values == {"provider": "vllm", "model": "m"}
    assert named["azure"].values == {
        "model": "my-deployment",
        "dialect": "openai_chat",
        "base_url": "https://my.openai.azure.com/openai/deployments/my-deployment",
        "key": "AZURE_API_KEY",
        "key_header": "api-key",
        "query": {"api-version": "2026-10-21"},
    }
    region = "https://bedrock-runtime.eu-west-1.amazonaws.com"
    assert named["bedrock"].values == {"provider": "bedrock", "model": "anthropic.claude-x", "base_url": region}
    assert named["bare"].values == {"provider": "anthropic", "model": "claude-sonnet-5"}
    assert named["shared"].values["key"] == "SHARED_KEY"


def test_headers_are_taken_over_but_for_keys(found):
    one = found[0]["with-headers"]
    assert one.values["headers"] == {"X-Team": "infra", "X-Other": "$OTHER_KEY", "OpenAI-Organization": "org-1"}
    assert any("api-key: may be a key" in note for note in one.notes)


def test_what_cannot_be_taken_over_says_why(found):
    named, candidates = found
    assert "stands for any model" in named["*"].problem
    assert named["embed"].problem == "is of the mode embedding: it does not chat"
    assert named["vertex"].problem == "is of vertex_ai: inftop has no preset of that provider"
    assert named["unset"].problem == "the environment variable NOT_SET is not set"
    assert named["model_list[14]"].problem == "has no litellm_params"
    assert named["general_settings"].problem == "a setting of the proxy itself"
    assert "aws_secret_access_key" in named["bedrock"].notes[-1]
    assert all(one.values or one.problem for one in candidates)
    assert PLANTED not in repr(candidates)


def test_what_is_taken_over_is_right_for_a_configuration(found):
    for one in found[1]:
        if one.values:
            problems = []
            read_endpoint(Table({"name": "n", **one.values}, problems, ""), ProbeSettings())
            assert problems == [], one


@pytest.mark.parametrize("text", ["a: [", "- a", "a: 1", "model_list: 5", "", "&a [*a]", "x: &a [*a]\n"])
def test_what_is_no_such_configuration_is_refused(text):
    with pytest.raises(ValueError, match=r"^(is not|has no)"):
        litellm_candidates(text, {})


def test_a_key_pasted_into_the_wrong_place_is_neither_taken_over_nor_quoted():
    first, second = "gsk_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2", "7Hq2Lw9Ke4Rt6Yu8Io1Pa3Sd5Fg"
    text = f"""
model_list:
  - {{model_name: "{first}", litellm_params: {{model: "openai/{first}"}}}}
  - {{model_name: own, litellm_params: {{model: "openai/{second}", api_key: "{second}"}}}}
  - {{model_name: whose, litellm_params: {{model: "{second}/m", api_key: "{second}"}}}}
  - {{model_name: region, litellm_params: {{model: bedrock/m, aws_region_name: "{second}"}}}}
  - {{model_name: variable, litellm_params: {{model: openai/m, api_base: os.environ/OPENAI_API_KEY}}}}
  - {{model_name: query, litellm_params: {{model: openai/m, api_base: "http://gpu/v1?key={second}"}}}}
"{second}": {{}}
"""
    found = litellm_candidates(text, {"OPENAI_API_KEY": second})
    assert all(not one.values for one in found), found
    for part in (first[4:12], first[-8:], second[:8], second[-8:]):
        assert part not in str([(one.entry, one.problem, one.notes) for one in found])


def test_a_configuration_that_holds_itself_ends():
    [one] = litellm_candidates("model_list: &a [{model_name: x, litellm_params: {model: groq/m, more: *a}}]", {})
    assert one.values["model"] == "m"

"""What is taken out of a report for the public: nothing that was planted in the texts of a store is in the page."""

import re
from datetime import UTC

import pytest

from probes.config.presets import is_theirs, public_providers
from probes.endpoint import Endpoint
from probes.report.page import page
from probes.report.read import ReportQuestion, read_report
from probes.report.redact import public_model, redacted
from probes.report.status_files import badge_record, status_record
from tests.report.stores import NOW, SINCE, fill, fill_hostile, fill_usual, two_days
from tests.store.stores import url_of


@pytest.fixture
def url(tmp_path):
    return url_of(tmp_path / "history.db")


def read(url):
    return read_report(url, ReportQuestion(since=SINCE, until=NOW, zone=UTC))


def test_nothing_that_was_planted_in_any_text_of_a_store_is_in_a_public_page(url):
    planted = []

    def words(field):
        planted.append(f"Planted{field.replace('_', '').capitalize()}")
        return f"sk-proj-{planted[-1]}0123456789abcdef" if field in ("detail", "note") else planted[-1]

    fill_hostile(url, words)
    whole = read(url)
    shown = redacted(whole, public_providers())
    texts = page(shown), str(status_record(shown, None)), str(badge_record(shown, None))
    assert [one for one in {*planted, "Planted"} for text in texts if one.lower() in text.lower()] == []
    assert "PlantedEndpoint" in page(whole)  # it was there to be found
    assert "groq/m" in texts[0]


def test_endpoints_are_called_by_public_providers_and_models_or_by_number(url):
    fill_usual(url)
    fill(url, two_days("secret-box", provider="my-lab", model="/srv/models/ours.gguf"))
    fill(url, two_days("ft", provider="openai", model="ft:gpt-4o-mini:acme::8zQ", vantage="acme-fra"))
    shown = redacted(read(url), public_providers())
    names = {one.name for one in shown.endpoints}
    assert {re.sub(r"\d$", "N", one.endpoint) for one in shown.endpoints} == {
        "groq/m", "groq/m (2)", "moonshot/m", "endpoint N", "openai/gpt-4o-mini (fine-tuned)",
    }  # fmt: skip
    assert names == {f"{one.endpoint} from {one.vantage}" for one in shown.endpoints}
    assert shown.vantages == ("place 1", "place 2")
    assert shown.certificate.host == ""
    assert all(one.endpoint in names for group in shown.groups for one in group.ranked)
    assert {one for each in shown.incidents for one in each.endpoints} <= names
    assert "acme" not in page(shown)


def test_an_own_server_does_not_tell_its_model_by_those_it_is_grouped_with(url):
    fill(url, two_days("groq/llama", model="llama-3.3-70b", seed=1))
    fill(url, two_days("openrouter/llama", provider="openrouter", model="meta/llama-3.3-70b", seed=2))
    fill(url, two_days("box", provider="vllm", model="llama-3.3-70b", seed=3))
    fill(url, two_days("corp-gw", provider="openai", model="acme-llama", seed=4))
    endpoints = tuple(
        Endpoint(
            name=name, provider="p", model="m", dialect="openai_chat", base_url="https://a.example", group="plan-b"
        )
        for name in ("groq/llama", "openrouter/llama", "box", "corp-gw")
    )
    found = read_report(url, ReportQuestion(since=SINCE, until=NOW, zone=UTC, configured=endpoints))
    assert [(one.name, len(one.ranked)) for one in found.groups] == [("plan-b", 4)]
    shown = redacted(found, public_providers(), {"corp-gw"})
    ranked = {one.name: sorted(each.endpoint for each in one.ranked) for one in shown.groups}
    assert ranked == {
        "llama-3.3-70b": ["groq/llama-3.3-70b", "openrouter/llama-3.3-70b"],
        "group 2": ["endpoint 3", "endpoint 4"],
    }
    text = page(shown) + str(status_record(shown, None))
    assert [word for word in ("plan-b", "vllm", "corp-gw", "acme", "openai/") if word in text] == []


def test_servers_of_ones_own_are_no_public_providers():
    assert {"vllm", "sglang", "llamacpp", "ollama", "ollama-native", "lmstudio"} & public_providers() == set()
    assert {"groq", "openai", "bedrock"} <= public_providers()
    assert is_theirs("bedrock", "https://bedrock-runtime.eu-central-1.amazonaws.com")
    assert not is_theirs("openai", "https://gateway.acme.example/v1")
    assert not is_theirs("acme", "https://acme.example")


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("accounts/acme/models/llama-v3p1-8b", "llama-v3p1-8b"),
        ("ft:gpt-4o-mini-2024-07-18:acme::AbC", "gpt-4o-mini-2024-07-18 (fine-tuned)"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("arn:aws:bedrock:us-east-1:123456789012:provisioned-model/x", None),
        ("C:\\models\\ours.gguf", "ours.gguf"),
        ("sk-proj-0123456789abcdefABCDEF0123456789", None),
        ("a model of ours", None),
        ("", None),
    ],
)
def test_of_a_model_only_its_own_name_is_left(model, shown):
    assert public_model(model) == shown

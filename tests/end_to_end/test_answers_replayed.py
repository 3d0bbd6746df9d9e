"""Answers as servers were seen to send them, over real sockets: counts of 0, thoughts, refusals, and how they end."""

import json

import pytest

from probes.endpoint import Price, Timeouts
from probes.figures.timing import span_ms
from probes.measure import deadline
from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.samples import endpoint
from tests.servers.raw_server import Client, serving
from tests.servers.replay import RECORDS, Ending, answer, replay
from tests.wire.dialect_facts import sse

TEXTS = ("One", " two", " three.")
every_dialect = pytest.mark.parametrize("dialect", RECORDS)


@every_dialect
async def test_usage_of_zeros_beside_text_is_not_known(dialect: str):
    probed = await replay(dialect, answer(dialect, *TEXTS, counts=(0, 0)), price=Price(1.0, 10.0))
    sample = probed.sample
    assert (sample.outcome, probed.text) == (Outcome.OK, "One two three.")
    assert (sample.input_tokens, sample.output_tokens, sample.token_source) == (None, 4, "estimate")
    assert (sample.tokens_per_s, sample.e2e_tokens_per_s) == (None, pytest.approx(4 / sample.e2e_ms * 1000, rel=0.001))
    assert sample.cost_usd, "what was not counted was not free"
    assert "0 output tokens for 14 characters" in (sample.outcome_detail or "")


@every_dialect
async def test_a_count_beside_an_input_of_0_is_believed_without_it(dialect: str):
    sample = (await replay(dialect, answer(dialect, *TEXTS, counts=(0, 20)))).sample
    assert (sample.input_tokens, sample.output_tokens, sample.token_source) == (None, 20, "usage")


THOUGHTS = {
    "cut anywhere": (("\n<th", "ink>I mu", "se.</thi", "nk>\n", "\n", "Paris", "."), "RRRRRAA"),
    "empty": (("<think>\n\n</think>", "\n\n", "Paris."), "RRA"),
    "in one event": (("<think>Hm.</think>\n\nParis.", " Yes."), "AA"),
    "opened in the prompt": (("Okay", ", so", "\n</think>", "\n\n", "Paris."), "RRRRA"),
    "cut by the cap": (("<think>", "Okay", ", so"), "RRR"),
    "harmony": (("<|channel|>", "analysis<|message|>Hm.<|end|>", "<|channel|>final<|message|>", "Paris."), "RRRA"),
    "prose": (("Paris. ", "Write <think>", "so</think>", "."), "AAAA"),
}  # fmt: skip


@every_dialect
@pytest.mark.parametrize("name", THOUGHTS)
async def test_thoughts_in_the_answers_text_are_reasoning(dialect: str, name: str):
    texts, kinds = THOUGHTS[name]
    probed = await replay(dialect, answer(dialect, *texts))
    sample, contents = probed.sample, probed.timeline.contents
    assert sample.outcome is Outcome.OK, sample
    assert [one.kind.value[0].upper() for one in contents] == list(kinds), "an event counts when it came, as one"
    assert sample.output_chars == sum(map(len, texts)), "no text is lost"
    assert sample.ttft_ms == span_ms(probed.timeline.sent, contents[0].at)
    first = kinds.find("A")
    assert sample.ttfa_ms == (None if first < 0 else span_ms(probed.timeline.sent, contents[first].at))
    if "think" not in name and name != "prose":
        assert probed.text == ("Paris. Yes." if name == "in one event" else "" if first < 0 else "Paris.")


async def test_what_is_expected_is_sought_behind_the_thought():
    texts = ("I wonder: Lyon?\n</think>\n\n", "Paris.")
    assert (await replay("openai_chat", answer("openai_chat", *texts), expect="^Paris")).sample.expect_ok is True
    assert (await replay("openai_chat", answer("openai_chat", *texts), expect="Lyon")).sample.expect_ok is False


CHAT, RESPONSES = RECORDS["openai_chat"], RECORDS["openai_responses"]
AZURE = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {
                "hate": {"filtered": False, "severity": "safe"},
                "violence": {"filtered": True, "severity": "medium"},
            },
        },
    }
}
FILTERED = {"violence": {"filtered": True, "severity": "high"}, "hate": {"filtered": False, "severity": "safe"}}
STOP_DETAILS = {"type": "refusal", "category": "cyber", "explanation": "It conflicts with the Usage Policy."}
REFUSALS = {
    "refusal text": (
        "openai_chat",
        [*(sse({"choices": [{"delta": {"refusal": one}}]}) for one in ("I'm sorry, ", "I can't.")), CHAT.marker],
        "I'm sorry, I can't.",
    ),
    "content filter": (
        "openai_chat",
        [CHAT.output("Once"), CHAT.finish("content_filter"), CHAT.marker],
        "finish reason content_filter",
    ),
    "Azure's filter of the answer": (
        "openai_chat",
        [sse({"choices": [{"delta": {}, "finish_reason": "content_filter", "content_filter_results": FILTERED}]})],
        "finish reason content_filter: violence high",
    ),
    "refused by Anthropic": (
        "anthropic",
        [sse({"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 1}})],
        "finish reason refusal",
    ),
    "refused by Anthropic, explained": (
        "anthropic",
        [sse({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": STOP_DETAILS}})],
        "finish reason refusal: cyber: It conflicts with the Usage Policy.",
    ),
    "blocked prompt": ("gemini", [sse({"promptFeedback": {"blockReason": "SAFETY"}})], "prompt blocked: SAFETY"),
    "blocked answer": (
        "gemini",
        [sse({"candidates": [{"finishReason": "SAFETY", "finishMessage": "Harmful.", "index": 0}]})],
        "finish reason SAFETY: Harmful.",
    ),
    "Responses' refusal": (
        "openai_responses",
        [sse({"type": "response.refusal.delta", "delta": "I can't."}), RESPONSES.usage(1, 2)],
        "I can't.",
    ),
    "Responses' filter": (
        "openai_responses",
        [sse({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}})],
        "finish reason content_filter",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_is_explained_in_the_providers_words(name: str):
    dialect, pieces, words = REFUSALS[name]
    sample = (await replay(dialect, pieces)).sample
    assert (sample.outcome, sample.outcome_detail) == (Outcome.REFUSED, f"the provider refused: {words}")


REFUSED_AT_ONCE = [
    ("anthropic", "invalid_request_error", None, "Output blocked by content filtering policy"),
    ("openai_responses", "x", "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our"),
    ("openai_chat", "data_inspection_failed", None, "Input data may contain inappropriate content."),
    ("openai_chat", None, "400", "litellm.ContentPolicyViolationError: rejected by the safety system"),
]


@pytest.mark.parametrize(("dialect", "kind", "code", "words"), REFUSED_AT_ONCE)
async def test_a_prompt_that_is_refused_is_no_bad_request(dialect: str, kind: str, code: str, words: str):
    body = json.dumps({"type": "error", "error": {"type": kind, "code": code, "message": words}}).encode()
    sample = (await replay(dialect, [body], status=400)).sample
    assert sample.outcome is Outcome.REFUSED
    assert (sample.outcome_detail or "").startswith(f"the provider refused: {words}")


async def test_azures_refusal_of_a_prompt_names_what_was_found_in_it():
    sample = (await replay("openai_chat", [json.dumps(AZURE).encode()], status=400)).sample
    assert sample.outcome is Outcome.REFUSED
    assert sample.outcome_detail == (
        "the provider refused: violence medium: The response was filtered due to the prompt triggering Azure OpenAI's "
        "content management policy. (content_filter)"
    )


NO_MARKER = {"openai_chat": "[DONE]", "openai_completions": "[DONE]", "anthropic": "message_stop", "gemini": ""}
"""Of the dialects whose answer is complete before its end, what ends it."""


def unmarked(dialect: str, counts: tuple[int, int] | None = (12, 20)) -> list[bytes]:
    return [one for one in answer(dialect, *TEXTS, counts=counts) if one != RECORDS[dialect].marker]


@pytest.mark.parametrize("dialect", NO_MARKER)
async def test_a_complete_answer_that_stays_open_ends_after_a_grace(dialect: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deadline, "END_S", 0.1)
    probed = await replay(dialect, unmarked(dialect), ending="open")
    sample = probed.sample
    assert (sample.outcome, sample.output_tokens, probed.text) == (Outcome.OK, 20, "One two three.")
    assert (sample.outcome_detail or "").startswith("the response stayed open after the finish reason")
    assert sample.e2e_ms == span_ms(probed.timeline.sent, probed.timeline.contents[-1].at), "the grace is in no time"


@pytest.mark.slow
async def test_the_grace_is_neither_cut_short_by_a_short_stall_nor_made_longer_by_pings(monkeypatch):
    pieces = unmarked("openai_chat")
    monkeypatch.setattr(deadline, "END_S", 1.0)
    hasty = Timeouts(connect=60, first_token=60, stall=0.5, total=60)
    assert (await replay("openai_chat", pieces, ending="open", timeouts=hasty)).sample.outcome is Outcome.OK
    monkeypatch.setattr(deadline, "END_S", 0.1)
    pinged = await replay("openai_chat", [*pieces, *[b": ping\n\n"] * 1_500], ending="cut")  # pings for 3 s
    assert pinged.sample.outcome is Outcome.OK


async def test_usage_that_comes_within_the_grace_is_taken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deadline, "END_S", 0.5)
    late = [*unmarked("openai_chat", counts=None), *[b": ping\n\n"] * 20, CHAT.usage(12, 20)]
    sample = (await replay("openai_chat", late, ending="open")).sample
    assert (sample.outcome, sample.output_tokens, sample.token_source) == (Outcome.OK, 20, "usage")


async def test_a_finish_reason_that_more_output_follows_is_no_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deadline, "END_S", 0.05)
    hasty = Timeouts(connect=60, first_token=60, stall=0.2, total=60)
    pieces = [CHAT.output("One"), CHAT.finish(), CHAT.output(" two")]
    sample = (await replay("openai_chat", pieces, ending="open", timeouts=hasty)).sample
    assert sample.outcome is Outcome.TIMEOUT


@pytest.mark.parametrize("dialect", NO_MARKER)
async def test_a_body_that_ends_well_after_the_finish_reason_is_a_whole_answer_and_one_that_breaks_off_is_not(
    dialect: str,
):
    whole = (await replay(dialect, unmarked(dialect))).sample
    assert (whole.outcome, whole.output_tokens) == (Outcome.OK, 20)
    marker = NO_MARKER[dialect]
    assert (f"the response ended without {marker}" in (whole.outcome_detail or "")) is bool(marker)
    assert (await replay(dialect, unmarked(dialect), ending="cut")).sample.outcome is Outcome.CUT


@pytest.mark.parametrize("ending", ["whole", "open"])
async def test_bedrocks_answer_is_complete_without_its_metadata(ending: Ending, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deadline, "END_S", 0.1)
    probed = await replay("bedrock_converse", answer("bedrock_converse", *TEXTS, counts=None), ending=ending)
    assert (probed.sample.outcome, probed.sample.token_source) == (Outcome.OK, "estimate")
    words = {"whole": "the response ended without metadata", "open": "the response stayed open after the finish reason"}
    assert (probed.sample.outcome_detail or "").startswith(words[ending])


@every_dialect
async def test_an_answer_without_a_finish_reason_is_cut(dialect: str):
    pieces = [RECORDS[dialect].output(text) for text in TEXTS]
    assert (await replay(dialect, pieces)).sample.outcome is Outcome.CUT


async def test_a_connection_whose_answer_did_not_end_is_not_used_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deadline, "END_S", 0.05)

    async def script(client: Client) -> None:
        await client.request()
        await client.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in unmarked("openai_chat"):
            await client.say(b"%x\r\n%b\r\n" % (len(piece), piece))
        await client.hold()

    async with serving(script) as port:
        url = f"http://127.0.0.1:{port}/v1"
        prober = Prober(endpoint(base_url=url), load_dialect("openai_chat"), transport_to(url, None))
        samples = [(await prober.probe(None)).sample for _ in range(2)]
        prober.close()
    assert [(one.outcome, one.connection) for one in samples] == [(Outcome.OK, "cold")] * 2

"""What an error is, by its code or type, its sentence and its status: every word of every provider that is known."""

import pytest

from probes.outcome import Outcome
from probes.wire.errors.error_outcome import CONNECTION_LIMIT, is_closed, is_loading, outcome_of, too_large

WORDS = {
    Outcome.QUOTA: (
        "insufficient_quota exceeded_current_quota_error payment_required insufficient_balance insufficient_credits "
        "billing_error billing_hard_limit_reached billing_not_active budget_exceeded credit_limit"
    ),
    Outcome.OVERLOADED: (
        "overloaded_error engine_overloaded_error provider_overloaded server_is_overloaded service_unavailable "
        "service_unavailable_error unavailable unavailable_error queue_exceeded service_tier_capacity_exceeded"
    ),
    Outcome.RATE_LIMITED: (
        "rate_limit_exceeded rate_limit_error rate_limit_reached_error rate_limited too_many_requests "
        "too_many_requests_error too_many_tokens_error resource_exhausted request_quota_exceeded token_quota_exceeded "
        "capacity_exceeded"
    ),
    Outcome.AUTH: (
        "authentication_error authentication invalid_api_key invalid_authentication_error incorrect_api_key_error "
        "wrong_api_key permission_error permission_denied unauthorized no_db_connection"
    ),
    Outcome.NOT_FOUND: "model_not_found not_found not_found_error notfounderror resource_not_found_error",
    Outcome.CUT: "websocket_connection_limit_reached",
    Outcome.REFUSED: "content_policy_violation content_filter refusal data_inspection_failed",
    Outcome.BAD_REQUEST: (
        "invalid_request_error invalid_request bad_request badrequesterror invalid_prompt context_length_exceeded "
        "payload_too_large unprocessable validation_error"
    ),
    Outcome.SERVER_ERROR: (
        "server_error api_error internal_error internal_server_error internalservererror server timeout timeout_error "
        "provider_unavailable bad_gateway"
    ),
}


@pytest.mark.parametrize(("outcome", "word"), [(one, word) for one, words in WORDS.items() for word in words.split()])
def test_a_code_or_type_says_what_it_is_whatever_its_case(outcome: Outcome, word: str):
    assert outcome_of((word.upper(),), "", None) is outcome


def test_of_two_words_the_more_specific_counts_and_a_weak_one_only_where_there_is_no_status():
    assert outcome_of(("invalid_request_error", "insufficient_quota"), "", 400) is Outcome.QUOTA
    assert outcome_of(("rate_limit_error", "queue_exceeded"), "", 429) is Outcome.OVERLOADED
    assert outcome_of(("invalid_request_error",), "", 401) is Outcome.AUTH
    assert outcome_of(("server_error",), "", 400) is Outcome.BAD_REQUEST
    assert WORDS[Outcome.CUT] == CONNECTION_LIMIT


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("No required SSL certificate was sent", Outcome.TLS),
        ("The SSL certificate error", Outcome.TLS),
        ("Your credit balance is too low", Outcome.QUOTA),
        ("You have reached your specified API usage limits", Outcome.QUOTA),
        ("You exceeded your current quota", Outcome.QUOTA),
        ("you are out of credits", Outcome.QUOTA),
        ("Insufficient account balance", Outcome.QUOTA),
        ("insufficient credit", Outcome.QUOTA),
        ("insufficient funds", Outcome.QUOTA),
        ("This requires more credits", Outcome.QUOTA),
        ("Budget has been exceeded", Outcome.QUOTA),
        ("ExceededBudget: key", Outcome.QUOTA),
        ("Credit limit exceeded", Outcome.QUOTA),
        ("has used all available credits", Outcome.QUOTA),
        ("your monthly spending limit", Outcome.QUOTA),
        ("exceeded your usage limit", Outcome.QUOTA),
        ("余额不足或无可用资源包", Outcome.QUOTA),
        ("The engine is Overloaded", Outcome.OVERLOADED),
        ("we are over capacity", Outcome.OVERLOADED),
        ("at capacity", Outcome.OVERLOADED),
        ("high demand", Outcome.OVERLOADED),
        ("Server busy", Outcome.OVERLOADED),
        ("server is busy", Outcome.OVERLOADED),
        ("maximum pending requests", Outcome.OVERLOADED),
        ("temporarily unavailable", Outcome.OVERLOADED),
        ("Invalid model name passed in model=x", Outcome.NOT_FOUND),
        ("Output blocked by content filtering policy", Outcome.REFUSED),
        ("was flagged as potentially violating", Outcome.REFUSED),
        ("litellm.ContentPolicyViolationError", Outcome.REFUSED),
        ("DataInspectionFailed", Outcome.REFUSED),
        ("Loading model", Outcome.OVERLOADED),
        ("Request too large for model", Outcome.BAD_REQUEST),
        ("something else", None),
        ("x" * 2_000 + "Server busy", None),
    ],
)
def test_a_sentence_says_what_it_is(sentence: str, outcome: Outcome | None):
    assert outcome_of((), sentence, None) is outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (400, Outcome.BAD_REQUEST),
        (401, Outcome.AUTH),
        (402, Outcome.QUOTA),
        (403, Outcome.AUTH),
        (404, Outcome.NOT_FOUND),
        (405, Outcome.NOT_FOUND),
        (408, Outcome.SERVER_ERROR),
        (410, Outcome.NOT_FOUND),
        (418, Outcome.BAD_REQUEST),
        (424, Outcome.SERVER_ERROR),
        (429, Outcome.RATE_LIMITED),
        (495, Outcome.TLS),
        (496, Outcome.TLS),
        (498, Outcome.RATE_LIMITED),
        (499, Outcome.BAD_REQUEST),
        (500, Outcome.SERVER_ERROR),
        (503, Outcome.OVERLOADED),
        (529, Outcome.OVERLOADED),
        (599, Outcome.SERVER_ERROR),
        (399, None),
        (600, None),
        (None, None),
    ],
)
def test_a_status_says_what_it_is_where_nothing_else_does(status: int | None, outcome: Outcome | None):
    assert outcome_of((), "", status) is outcome


@pytest.mark.parametrize(
    ("sentence", "loading"),
    [
        ("Loading model", True),
        ("loading model...", True),
        ("unexpected server status: llm server loading model", True),
        ("Model x is currently loading", True),
        ("the model x is still loading", True),
        ("model x is loading", True),
        ("error loading model: no memory", False),
        ("x" * 2_000 + " model x is loading", False),
    ],
)
def test_a_model_that_is_being_loaded_is_no_broken_one(sentence: str, loading: bool):
    assert is_loading(sentence) is loading


@pytest.mark.parametrize(
    ("sentence", "closed"),
    [
        ("limit: 0", True),
        ("a limit of 0 tokens", True),
        ("Limit:0", True),
        ("limit: 0.5", False),
        ("limit: 05", False),
        ("limit: 10", False),
        ("not available for your organization", True),
        ("not enabled on this account", True),
        ("not provisioned to your plan", True),
        ("not available for everybody", False),
        ("x" * 2_000 + " limit: 0", False),
    ],
)
def test_a_limit_of_nothing_is_waited_for_in_vain(sentence: str, closed: bool):
    assert is_closed(sentence) is closed


@pytest.mark.parametrize(
    ("sentence", "large"),
    [
        ("Request too large", True),
        ("the request is too large", True),
        ("The input must be reduced to run successfully", True),
        ("please reduce the message size", True),
        ("Request exceeds the maximum size", True),
        ("Limit 6000, Requested 9000", True),
        ("limit: 6,000 requested: 6,001", True),
        ("Limit 6000, Used 5900, Requested 6000", False),
        ("slow down", False),
    ],
)
def test_what_no_waiting_makes_smaller_is_too_large(sentence: str, large: bool):
    assert too_large(sentence, 429) is large

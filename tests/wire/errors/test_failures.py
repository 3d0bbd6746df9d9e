"""What errors mean: statuses, bodies of every shape, and errors inside a 200."""

import json
import random

import pytest

from probes.events import Failure
from probes.outcome import Outcome
from probes.wire.errors.failures import (
    TOO_LARGE,
    failure_in_stream,
    failure_instead_of_stream,
    failure_of_response,
    filtered_categories,
    is_error,
    read_error_record,
)

OPENAI_LIMIT = {
    "error": {
        "message": "Rate limit reached for gpt-5.4-nano in organization org-x on tokens per min (TPM): Limit 200000, "
        "Used 199985, Requested 42. Please try again in 8ms. Visit https://platform.openai.com/account/rate-limits.",
        "type": "tokens",
        "param": None,
        "code": "rate_limit_exceeded",
    }
}
OPENAI_QUOTA = {
    "error": {
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
}
GROQ_LIMIT = {
    "error": {
        "message": "Rate limit reached for model `openai/gpt-oss-20b` on tokens per minute: Limit 8000. Please try "
        "again in 7.66s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        "type": "tokens",
        "code": "rate_limit_exceeded",
    }
}
CEREBRAS_LIMIT = {
    "message": "Tokens per minute limit exceeded - too many tokens processed.",
    "type": "too_many_tokens_error",
    "param": "quota",
    "code": "token_quota_exceeded",
}
CEREBRAS_QUEUE = {
    "message": "We're experiencing high traffic right now! Please try again soon.",
    "type": "too_many_requests_error",
    "param": "queue",
    "code": "queue_exceeded",
}
MISTRAL_TIER = {
    "object": "error",
    "message": "Service tier capacity exceeded for this model.",
    "type": "service_tier_capacity_exceeded",
    "param": None,
    "code": "3505",
}
MISTRAL_FIELDS = {
    "object": "error",
    "message": {
        "detail": [
            {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}
        ]
    },
    "type": "invalid_request_error",
    "code": None,
}
FASTAPI_FIELDS = {
    "detail": [
        {"loc": ["body", "messages", 0, "role"], "msg": "Field required", "type": "missing"},
        {"loc": ["body", "model"], "msg": "Input should be a string", "type": "string_type"},
    ]
}
OPENROUTER_UPSTREAM = {
    "error": {
        "code": 429,
        "message": "Provider returned error",
        "metadata": {
            "error_type": "provider_overloaded",
            "provider_name": "Together",
            "raw": "model is overloaded, retry after 2 seconds",
        },
    },
    "user_id": "user_x",
}
GEMINI_LIMIT = [
    {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38s"},
            ],
        }
    }
]


def kimi(kind):
    return {"error": {"message": f"Your account org-x: {kind}", "type": kind}}


def openai(message, kind="invalid_request_error", code=None):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


LITELLM_MODEL = {  # LiteLLM 1.106, recorded
    "error": {
        "message": "/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view models",
        "type": "invalid_request_error",
        "param": "model",
        "code": "400",
    }
}
LITELLM_KEY = {"error": {"message": "No connected db.", "type": "no_db_connection", "param": None, "code": "400"}}


@pytest.mark.parametrize(
    ("status", "body", "outcome", "words"),
    [
        (400, openai("Unsupported parameter: 'max_tokens'."), Outcome.BAD_REQUEST, "Unsupported parameter"),
        (400, openai("no model x", code="model_not_found"), Outcome.NOT_FOUND, "no model x (model_not_found)"),
        (400, LITELLM_MODEL, Outcome.NOT_FOUND, "Invalid model name passed in model=x"),
        (400, LITELLM_KEY, Outcome.AUTH, "No connected db. (no_db_connection)"),
        (400, openai("Your credit balance is too low to access the API."), Outcome.QUOTA, "credit balance"),
        (400, openai("You have reached your specified API usage limits."), Outcome.QUOTA, "API usage limits"),
        (400, openai("filtered", "x", "content_filter"), Outcome.REFUSED, "filtered"),
        (401, openai("Incorrect API key provided", code="invalid_api_key"), Outcome.AUTH, "Incorrect API key"),
        (401, {"message": "Wrong API Key", "type": "invalid_request_error", "code": "wrong_api_key"}, Outcome.AUTH, ""),
        (401, {"message": "Unauthorized", "request_id": "x"}, Outcome.AUTH, "Unauthorized"),
        (402, openai("Insufficient Balance", "unknown_error", "invalid_request_error"), Outcome.QUOTA, "Insufficient"),
        (402, {"error": {"code": 402, "message": "Insufficient credits."}}, Outcome.QUOTA, "Insufficient credits."),
        (
            412,
            {"status": "failure", "message": "You have exceeded your usage limits"},
            Outcome.QUOTA,
            "You have exceeded",
        ),
        (403, openai("Country, region, or territory not supported"), Outcome.AUTH, "Country"),
        (404, openai("The model `x` does not exist", code="model_not_found"), Outcome.NOT_FOUND, "`x`"),
        (404, {"error": "model 'x' not found"}, Outcome.NOT_FOUND, "model 'x' not found"),
        (404, {"detail": "Not Found"}, Outcome.NOT_FOUND, "Not Found"),
        (405, {"detail": "Method Not Allowed"}, Outcome.NOT_FOUND, "Method"),
        (408, openai("Request timed out", "timeout"), Outcome.SERVER_ERROR, "timed out"),
        (409, openai("Conflict"), Outcome.BAD_REQUEST, "Conflict"),
        (413, openai("Request too large"), Outcome.BAD_REQUEST, "too large"),
        (422, MISTRAL_FIELDS, Outcome.BAD_REQUEST, "body.stream_options: Extra inputs are not permitted"),
        (422, FASTAPI_FIELDS, Outcome.BAD_REQUEST, "body.messages.0.role: Field required; body.model: Input should"),
        (429, OPENAI_LIMIT, Outcome.RATE_LIMITED, "Rate limit reached for gpt-5.4-nano"),
        (429, OPENAI_QUOTA, Outcome.QUOTA, "You exceeded your current quota"),
        (429, GROQ_LIMIT, Outcome.RATE_LIMITED, "Rate limit reached for model"),
        (429, CEREBRAS_LIMIT, Outcome.RATE_LIMITED, "Tokens per minute limit exceeded"),
        (429, CEREBRAS_QUEUE, Outcome.OVERLOADED, "high traffic"),
        (429, MISTRAL_TIER, Outcome.OVERLOADED, "(service_tier_capacity_exceeded)"),
        (429, {"message": "Requests rate limit exceeded"}, Outcome.RATE_LIMITED, "Requests rate limit exceeded"),
        (429, kimi("rate_limit_reached_error"), Outcome.RATE_LIMITED, "rate_limit_reached_error"),
        (429, kimi("engine_overloaded_error"), Outcome.OVERLOADED, "engine_overloaded_error"),
        (429, kimi("exceeded_current_quota_error"), Outcome.QUOTA, "exceeded_current_quota_error"),
        (429, OPENROUTER_UPSTREAM, Outcome.OVERLOADED, "Provider returned error: model is overloaded"),
        (429, GEMINI_LIMIT, Outcome.RATE_LIMITED, "You exceeded your current quota"),
        (402, {"message": "Payment required", "type": "x", "code": "payment_required"}, Outcome.QUOTA, "Payment"),
        (503, {"message": "We are busy", "type": "x", "param": "", "code": "y"}, Outcome.OVERLOADED, "We are busy"),
        (498, {}, Outcome.RATE_LIMITED, ""),
        (498, openai("Flex tier is full", "x", "capacity_exceeded"), Outcome.RATE_LIMITED, "Flex tier is full"),
        (500, openai("Internal error", "server_error"), Outcome.SERVER_ERROR, "Internal error (server_error)"),
        (500, openai("The server is overloaded", "server_error"), Outcome.OVERLOADED, "overloaded"),
        (502, {"error": {"code": 502, "message": "bad gateway"}}, Outcome.SERVER_ERROR, "bad gateway"),
        (
            503,
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            Outcome.OVERLOADED,
            "model loading: Loading model (unavailable_error)",
        ),
        (
            500,
            {"error": "unexpected server status: llm server loading model"},
            Outcome.OVERLOADED,
            "model loading: unexpected server status",
        ),
        (
            503,
            {"error": "Model acme/chat-7b is currently loading", "estimated_time": 20.5},
            Outcome.OVERLOADED,
            "model loading: Model acme/chat-7b",
        ),
        (
            500,
            {"error": "llama-server process has terminated: error loading model: failed to load model from x"},
            Outcome.SERVER_ERROR,
            "llama-server process has terminated",
        ),
        (503, openai("Slow down", "x", "slow_down"), Outcome.OVERLOADED, "Slow down"),
        (503, {"error": "server busy, please try again.  maximum pending requests exceeded"}, Outcome.OVERLOADED, ""),
        (504, openai("timeout", "timeout_error"), Outcome.SERVER_ERROR, "timeout"),
        (520, {}, Outcome.SERVER_ERROR, ""),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            Outcome.OVERLOADED,
            "",
        ),
        (204, {}, Outcome.PROTOCOL, ""),
    ],
)
def test_json_bodies(status, body, outcome, words):
    found = failure_of_response(status, {"content-type": "application/json"}, json.dumps(body).encode())
    assert found.outcome is outcome
    assert words in found.detail
    assert found.detail


PAGE = b"""<!DOCTYPE html>\r\n<html><head>\n<title>502 Bad&nbsp;Gateway
 | cloudflare</title><style>a{}</style></head><body><center><h1>x</h1></center></body></html>"""


@pytest.mark.parametrize(
    ("status", "body", "outcome", "detail"),
    [
        (502, PAGE, Outcome.SERVER_ERROR, "502 Bad Gateway | cloudflare"),
        (
            503,
            b"<html><body><h1>No server is available</h1></body></html>",
            Outcome.OVERLOADED,
            "No server is available",
        ),
        (500, b"", Outcome.SERVER_ERROR, "HTTP 500 with an empty body"),
        (401, b" \n", Outcome.AUTH, "HTTP 401 with an empty body"),
        (404, b"404 page not found\n", Outcome.NOT_FOUND, "404 page not found"),
        (500, b'"only a string"', Outcome.SERVER_ERROR, "only a string"),
        (429, b'{"error": {"message": "Rate limit rea', Outcome.RATE_LIMITED, '{"error": {"message": "Rate limit rea'),
        (502, b"\x1f\x8b\x08\x00\xff\xfe\xfd\xfc", Outcome.SERVER_ERROR, "8 bytes that are not text"),
        (400, b"[" * 100_000, Outcome.BAD_REQUEST, "[" * 299 + "…"),
        (500, b'{"error":{}}', Outcome.SERVER_ERROR, '{"error":{}}'),
        (500, b"caf\xe9 closed", Outcome.SERVER_ERROR, "caf\ufffd closed"),
    ],
)
def test_other_bodies(status, body, outcome, detail):
    assert failure_of_response(status, {}, body) == Failure(outcome, detail)


def test_a_list_of_errors_says_its_sentence():  # Cloudflare's APIs
    body = b'{"success": false, "errors": [{"code": 7003, "message": "No route"}], "messages": [], "result": null}'
    assert failure_of_response(400, {}, body).detail == "No route"


@pytest.mark.parametrize(
    ("location", "detail"),
    [
        ("https://login.example.com/?next=/v1", "redirect to https://login.example.com not followed"),
        ("http://user:secret@other.example:8080/x", "redirect to http://other.example:8080 not followed"),
        ("/v2/chat/completions?key=secret", "redirect to /v2/chat/completions not followed"),
        ("//cdn.example/x", "redirect to cdn.example not followed"),
        ("http://[broken", "redirect not followed"),
        ("", "a redirect that names no place"),
    ],
)
def test_redirects_name_where_they_led(location, detail):
    assert failure_of_response(307, {"location": location}, b"<html>") == Failure(Outcome.PROTOCOL, detail)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (OPENAI_LIMIT, 0.008),
        (GROQ_LIMIT, 7.66),
        (GEMINI_LIMIT, 38.0),
        (OPENROUTER_UPSTREAM, 2.0),
        (CEREBRAS_LIMIT, None),
    ],
)
def test_waits_named_in_the_body(body, seconds):
    assert failure_of_response(429, {}, json.dumps(body).encode()).retry_after_s == seconds


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (OPENAI_QUOTA, Outcome.QUOTA),
        (GROQ_LIMIT, Outcome.RATE_LIMITED),
        ({"error": {"code": 502, "message": "upstream broke"}, "choices": []}, Outcome.SERVER_ERROR),
        ({"error": {"code": "429", "message": "slow"}}, Outcome.RATE_LIMITED),
        ({"error": {"message": "x", "metadata": {"error_type": "payment_required"}}}, Outcome.QUOTA),
        ({"error": {"message": "x", "type": "internal"}, "status_code": 503}, Outcome.OVERLOADED),
        ({"error": {"message": "x", "type": "BadRequestError", "code": 400}}, Outcome.BAD_REQUEST),
        ({"error": {"message": "x", "type": "invalid_request_error"}}, Outcome.BAD_REQUEST),
        ({"error": {"message": "x", "type": "server_error"}}, Outcome.SERVER_ERROR),
        ({"object": "error", "message": "x", "type": "InternalServerError", "code": 500}, Outcome.SERVER_ERROR),
        ({"error": {"message": "x", "type": "authentication_error"}}, Outcome.AUTH),
        ({"error": "an error was encountered while running the model"}, Outcome.STREAM_ERROR),
        ({"error": {"message": "something odd", "type": "odd"}}, Outcome.STREAM_ERROR),
        ({"error": True}, Outcome.STREAM_ERROR),
        ([{"error": {"message": "x", "status": "UNAVAILABLE", "code": 503}}], Outcome.OVERLOADED),
    ],
)
def test_inside_a_200_the_words_decide_and_the_unknown_is_a_stream_error(record, outcome):
    assert failure_in_stream(record).outcome is outcome


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"error": "model runner stopped"}\n', Failure(Outcome.STREAM_ERROR, "model runner stopped")),
        (b'{\n"error": {\n"code": 429,\n"message": "slow"\n}\n}\n', Failure(Outcome.RATE_LIMITED, "slow")),
        (
            b'{"choices": [{"message": {"content": "hi"}}]}',
            Failure(Outcome.PROTOCOL, "a whole JSON answer instead of a stream"),
        ),
        (PAGE, Failure(Outcome.PROTOCOL, "not an event stream: 502 Bad Gateway | cloudflare")),
        (b"hello", Failure(Outcome.PROTOCOL, "not an event stream: hello")),
        (b"", None),
        (b" \n\n", None),
    ],
)
def test_instead_of_a_stream(body, expected):
    assert failure_instead_of_stream(body) == expected


@pytest.mark.parametrize("sentence", ["\x7f", "\u202e", "\x1b[2J", " \n "])
def test_an_error_in_characters_that_nobody_sees_has_words_all_the_same(sentence):
    assert failure_of_response(500, {}, json.dumps({"error": sentence}).encode()).detail == "an error without words"
    kind = {"error": {"message": sentence, "type": "server_error"}}
    assert failure_of_response(500, {}, json.dumps(kind).encode()).detail == "server_error"


def test_details_are_one_plain_line():
    found = failure_of_response(
        500, {}, json.dumps({"error": {"message": "\x1b[31mred\x1b[0m\r\nnext\u202e" + "x" * 999}}).encode()
    )
    assert found.detail.startswith("red next" + "x" * 9)
    assert len(found.detail) <= 300
    assert found.detail.isprintable()


def test_nothing_a_body_holds_makes_it_raise():
    dice = random.Random(3)
    seeds = [json.dumps(one).encode() for one in (OPENAI_LIMIT, MISTRAL_FIELDS, GEMINI_LIMIT, OPENROUTER_UPSTREAM)]
    junk = [b"null", b"[]", b"{}", b"1e999", b"NaN", b"9" * 400, b'"\\ud800"', b"true", b"[" * 50, b"<", b"\xff", b""]
    for _ in range(3000):
        body = bytearray(dice.choice([*seeds, PAGE]))
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(body) + 1)
            body[at : at + dice.randint(0, 12)] = dice.choice(junk)
        found = failure_of_response(dice.choice([200, 301, 400, 429, 503, 777]), {"location": "http://x"}, bytes(body))
        assert found.detail
        assert len(found.detail) <= 300
        failure_instead_of_stream(bytes(body))


@pytest.mark.parametrize(
    ("record", "error"),
    [
        ({"error": "x"}, True),
        ({"object": "error"}, True),
        ([{"error": "x"}], True),
        ({"message": "x", "type": "y"}, True),
        ({"message": "x", "code": 1}, True),
        ({"message": "x"}, False),
        ({"type": "y", "code": 1}, False),
        ({"message": "x", "type": "y", "choices": []}, False),
        ([], False),
        (["error"], False),
        ([{"a": 1}, {"error": "x"}], False),
        ({"error": None}, False),
        ("error", False),
        (None, False),
    ],
)
def test_what_is_an_error_by_its_shape(record, error):
    assert is_error(record) is error


@pytest.mark.parametrize(
    ("record", "sentence", "words", "status"),
    [
        ({"error": {"message": "no", "type": "a", "code": 429}}, "no", ("429", "a"), 429),
        ({"error": {"code": "only_words"}}, "", ("only_words",), None),
        ({"error": {"message": "no", "status": "UNAVAILABLE"}, "status": 503}, "no", ("UNAVAILABLE", "503"), 503),
        ({"error": {"message": "no", "code": "x" * 64}}, "no", ("x" * 64,), None),
        ({"error": {"message": "no", "code": "x" * 65}}, "no", (), None),
        ({"error": {"message": "no", "code": 0, "type": [1]}}, "no", (), None),
        ({"message": "no", "status_code": 503, "code": 399, "type": 600}, "no", ("399", "600", "503"), 503),
        ([{"error": "no"}], "no", (), None),
        (
            {"detail": [{"loc": ["body", "n", 0, None], "msg": "bad"}, {"msg": "worse"}]},
            "body.n.0: bad; worse",
            (),
            None,
        ),
        ({"errors": ["1", "2", "3", "4", "5", "6"]}, "1; 2; 3; 4; 5", (), None),
        (
            {"error": {"message": "no", "metadata": {"raw": "upstream", "error_type": "t"}}},
            "no: upstream",
            ("t",),
            None,
        ),
        ({"error": {"error": {"error": {"error": {"error": "deep"}}}}}, "deep", (), None),
        ({"error": [[[["deep"]]]]}, "deep", (), None),
        *(
            ({"error": {key: "told"}}, "told", (), None)
            for key in ("message", "msg", "detail", "description", "errors")
        ),
    ],
)
def test_a_record_of_an_error_is_read_for_its_sentence_its_kinds_and_its_status(record, sentence, words, status):
    found = read_error_record(record)
    assert (found.sentence, found.words, found.status) == (sentence, words, status)


@pytest.mark.parametrize("record", [None, {}, [], "", {"error": {}}, {"a": 1}, {"error": [[[[["too deep"]]]]]}])
def test_what_says_nothing_is_no_error_record(record):
    assert read_error_record(record) is None


def test_the_wait_in_a_header_comes_before_googles_and_both_before_one_in_words():
    google = [{"retryDelay": "39s"}]
    words = {"message": "try again in 7s"}
    assert read_error_record({"error": words}).retry_after_s == 7
    assert read_error_record({"error": {**words, "details": google}}).retry_after_s == 39
    headers = {"Retry-After": 3}
    assert read_error_record({"error": {**words, "details": google, "headers": headers}}).retry_after_s == 3
    assert read_error_record({"error": {"message": "no", "headers": {"A": "b", "C": None}}}).headers == {"a": "b"}


def test_a_quota_of_google_per_day_or_of_nothing_is_used_up_and_one_per_minute_is_a_limit():
    def refused(quota, value, message="quota"):
        details = [{"violations": [{"quotaId": quota, "quotaValue": value}], "retryDelay": "9s"}]
        return failure_in_stream({"error": {"message": message, "code": 429, "details": details}})

    minute = refused("RequestsPerMinute", "5")
    assert (minute.outcome, minute.retry_after_s, minute.day_zone, minute.closed) == (
        Outcome.RATE_LIMITED,
        9.0,
        None,
        False,
    )
    assert minute.detail == "RequestsPerMinute: quota"
    day = refused("RequestsPerDay", "5")
    assert (day.outcome, day.retry_after_s, day.day_zone) == (Outcome.QUOTA, None, "America/Los_Angeles")
    nothing = refused("RequestsPerMinute", "0")
    assert (nothing.outcome, nothing.retry_after_s, nothing.closed) == (Outcome.QUOTA, None, True)
    told = failure_in_stream({"error": {"message": "GenerateRequestsPerDayPerProject is used up", "code": 429}})
    assert (told.outcome, told.day_zone) == (Outcome.QUOTA, "America/Los_Angeles")
    assert failure_in_stream({"error": {"message": "limit: 0", "code": 429}}).closed


def test_the_categories_of_azures_filter_are_named_with_how_bad_it_was():
    results = {
        "hate": {"filtered": True, "severity": "high"},
        "jailbreak": {"filtered": True},
        "x": {"filtered": False},
    }
    assert filtered_categories(results) == "hate high, jailbreak"
    assert filtered_categories(None) == ""
    record = {"error": {"message": "no", "innererror": {"content_filter_result": results}}}
    assert read_error_record(record).sentence == "hate high, jailbreak: no"
    many = {f"category{number}": {"filtered": True} for number in range(50)}
    assert len(filtered_categories(many)) == 100


def test_a_redirect_and_a_status_without_words_are_told():
    assert failure_of_response(399, {}, b"").detail == "a redirect that names no place"
    assert failure_of_response(300, {"location": "/x"}, b"").detail == "redirect to /x not followed"
    assert failure_of_response(400, {}, b"").detail == "HTTP 400 with an empty body"
    assert failure_of_response(299, {}, b"").detail == "HTTP 299 with an empty body"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'data: {"error": {"message": "first"}}\n\ndata: {"error": "second"}\n\n', "first"),
        (b'data: {"message": "no error by its shape"}\n\ndata: {"error": "one"}\n\n', "one"),
        (b"data: just words\n\ndata: [DONE]\n\n", "just words"),
        (b'data: {"message": "no error by its shape"}\n\ndata: [DONE]\n\n', "no error by its shape"),
        (b'data: {"a": 1}\n\ndata: {"message": "no error by its shape"}\n\n', "no error by its shape"),
        (b'{"a": 1}\n{"error": "in a line"}\n', "in a line"),
    ],
)
def test_an_error_that_is_streamed_is_found(body, detail):
    assert failure_of_response(500, {}, body).detail == detail


def test_a_detail_is_the_sentence_with_its_kind_behind_it_and_what_it_means_before_it():
    def detail(message, status=500, **fields):
        return failure_of_response(status, {}, json.dumps({"error": {"message": message, **fields}}).encode()).detail

    assert detail("Loading model", 503) == "model loading: Loading model"
    assert detail("no room", 413) == f"{TOO_LARGE}: no room"
    assert detail("no ROOM", code="room") == "no ROOM", "a kind that the sentence has already adds nothing"
    assert detail("no", code=7, type="k" * 40) == f"no ({'k' * 40})", "a number is no kind"
    assert detail("no", type="k" * 41) == f"no ({'k' * 39}…)"
    assert detail("x" * 251, type="kind") == "x" * 249 + "… (kind)"


def test_what_the_provider_said_is_kept_with_all_its_kinds_for_who_looks_for_a_wait_in_it():
    found = failure_in_stream({"error": {"message": "slow " + "x" * 3_000, "code": "a", "type": "b"}})
    assert found.provider_message == "slow " + "x" * 1_995 + " (a) (b)"
    details = [{"violations": [{"quotaId": "RequestsPerMinute", "quotaValue": "5"}]}]
    google = failure_in_stream({"error": {"message": "slow", "code": 429, "details": details}})
    assert google.provider_message == "RequestsPerMinute slow (429)"


def test_a_bot_wall_is_no_answer_of_the_api_under_whatever_status_it_comes():
    challenge = b"<html><title>Just a moment...</title></html>"
    for found in (failure_of_response(403, {}, challenge), failure_instead_of_stream(challenge)):
        assert found is not None
        assert found.outcome is Outcome.BAD_REQUEST
        assert found.detail.startswith('blocked by a bot wall (Cloudflare), its page is "Just a moment...": ')

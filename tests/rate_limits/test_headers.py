"""Rate-limit headers of every family, resets of every format, and hints in words."""

import pytest

from probes.rate_limits.bucket import Bucket, parse_bucket
from probes.rate_limits.headers import RateLimits, parse_reset, rate_limits, retry_hint

NOW = 1_795_000_000.0  # 2026-11-18T11:06:40Z


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5ns", 5e-9),
        ("7us", 7e-6),
        ("2d", 172800.0),
        ("637ms", 0.637),
        ("12ms", 0.012),
        ("1s", 1.0),
        ("7.66s", 7.66),
        ("6m0s", 360.0),
        ("2m59.56s", 179.56),
        ("1m26.4s", 86.4),
        ("4h17m", 15420.0),
        ("2h", 7200.0),
        ("1h0m0.5s", 3600.5),
        ("250µs", 0.00025),
        ("38s", 38.0),
        ("33011.382867", 33011.382867),
        ("86400", 86400.0),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("2026-11-18T11:07:00Z", 20.0),
        ("2026-11-18T12:07:00.500+01:00", 20.5),
        ("2026-11-18T11:07:00", 20.0),
        ("Wed, 18 Nov 2026 11:07:00 GMT", 20.0),
        ("1795000030", 30.0),
        ("1795000030.5", 30.5),
        ("1795000030500", 30.5),
        ("1794999000", 0.0),  # has passed
        ("2026-11-18T11:00:00Z", 0.0),
    ],
)
def test_reset(text, seconds):
    assert parse_reset(text, NOW) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "soon",
        "-1",
        "-5s",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1.2.3",
        "12x",
        "s",
        "1m26.4",
        "9" * 80,
        "9" * 40,
        "999999999999h",
        "500000000",
        "9999-12-31T23:59:59Z",
        "2026-13-45T00:00:00Z",
        "Wed, 99 Nov 2026 11:07:00 GMT",
    ],
)
def test_what_is_no_reset(text):
    assert parse_reset(text, NOW) is None


OPENAI = {
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-limit-tokens": "200000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-remaining-tokens": "199981",
    "x-ratelimit-reset-requests": "8.64s",
    "x-ratelimit-reset-tokens": "6ms",
    "x-ratelimit-limit-tokens_usage_based": "500000",
    "x-ratelimit-remaining-tokens_usage_based": "499000",
}
GROQ = {
    "x-ratelimit-limit-requests": "14400",
    "x-ratelimit-limit-tokens": "18000",
    "x-ratelimit-remaining-requests": "14370",
    "x-ratelimit-remaining-tokens": "17997",
    "x-ratelimit-reset-requests": "2m59.56s",
    "x-ratelimit-reset-tokens": "7.66s",
    "retry-after": "2",
}
CEREBRAS = {
    "x-ratelimit-limit-requests-day": "1000000000",
    "x-ratelimit-limit-tokens-minute": "1000000000",
    "x-ratelimit-remaining-requests-day": "999997455",
    "x-ratelimit-remaining-tokens-minute": "999998298",
    "x-ratelimit-reset-requests-day": "33011.382867",
    "x-ratelimit-reset-tokens-minute": "11.382867",
}
MISTRAL_OLD = {
    "x-ratelimitbysize-limit-minute": "500000",
    "x-ratelimitbysize-remaining-minute": "499918",
    "x-ratelimitbysize-limit-month": "1000000000",
    "x-ratelimitbysize-remaining-month": "999999918",
    "ratelimitbysize-limit": "500000",
    "ratelimitbysize-remaining": "499918",
    "ratelimitbysize-reset": "16",
    "ratelimitbysize-query-cost": "82",
}
MISTRAL = {
    "x-ratelimit-limit-req-minute": "50",
    "x-ratelimit-remaining-req-minute": "49",
    "x-ratelimit-limit-tokens-minute": "50000",
    "x-ratelimit-remaining-tokens-minute": "47300",
    "x-ratelimit-tokens-query-cost": "1300",
}
TOGETHER = {
    "x-ratelimit-limit": "10",
    "x-ratelimit-remaining": "9",
    "x-ratelimit-reset": "1",
    "x-tokenlimit-limit": "3000",
    "x-tokenlimit-remaining": "2900",
    "x-ratelimit-limit-dynamic": "20",
    "x-ratelimit-remaining-dynamic": "4",
    "retry-after": "1",
}
FIREWORKS = {
    "x-ratelimit-limit-requests": "600",
    "x-ratelimit-remaining-requests": "598",
    "x-ratelimit-limit-tokens-prompt": "60000",
    "x-ratelimit-remaining-tokens-prompt": "59000",
    "x-ratelimit-limit-tokens-cache-adjusted-prompt": "30000",
    "x-ratelimit-remaining-tokens-cache-adjusted-prompt": "29000",
    "x-ratelimit-limit-tokens-generated": "6000",
    "x-ratelimit-remaining-tokens-generated": "100",
    "x-ratelimit-over-limit": "yes",
}
SAMBANOVA = {
    "x-ratelimit-limit-requests": "30",
    "x-ratelimit-remaining-requests": "29",
    "x-ratelimit-reset-requests": "2s",
    "x-ratelimit-limit-requests-day": "1500",
    "x-ratelimit-remaining-requests-day": "1497",
    "x-ratelimit-reset-requests-day": "4h17m",
}
OPENROUTER = {
    "x-ratelimit-limit": "20",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1795000030000",
    "retry-after": "30",
}
ANTHROPIC = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-11-18T11:06:42Z",
    "anthropic-ratelimit-input-tokens-limit": "40000",
    "anthropic-ratelimit-input-tokens-remaining": "39000",
    "anthropic-ratelimit-input-tokens-reset": "2026-11-18T11:07:40Z",
    "anthropic-priority-output-tokens-limit": "8000",
    "anthropic-fast-output-tokens-limit": "0",
    "retry-after": "12",
}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            OPENAI,
            RateLimits(
                (
                    Bucket("requests", None, None, 10000, 9999, 8.64),
                    Bucket("tokens", None, None, 200000, 199981, 0.006),
                    Bucket("tokens", "usage based", None, 500000, 499000),
                )
            ),
        ),
        (
            GROQ,
            RateLimits(
                (
                    Bucket("requests", None, None, 14400, 14370, 179.56),
                    Bucket("tokens", None, None, 18000, 17997, 7.66),
                ),
                retry_after_s=2.0,
            ),
        ),
        (
            CEREBRAS,
            RateLimits(
                (
                    Bucket("requests", "day", None, 1e9, 999997455, 33011.382867),
                    Bucket("tokens", "minute", None, 1e9, 999998298, 11.382867),
                )
            ),
        ),
        (
            MISTRAL_OLD,
            RateLimits(
                (
                    Bucket("tokens", "minute", None, 500000, 499918),
                    Bucket("tokens", "month", None, 1e9, 999999918),
                    Bucket("tokens", None, None, 500000, 499918, 16.0),
                )
            ),
        ),
        (
            MISTRAL,
            RateLimits(
                (
                    Bucket("requests", "minute", None, 50, 49),
                    Bucket("tokens", "minute", None, 50000, 47300),
                )
            ),
        ),
        (
            TOGETHER,
            RateLimits(
                (
                    Bucket("requests", None, None, 10, 9, 1.0),
                    Bucket("tokens", None, None, 3000, 2900),
                    Bucket("requests", "dynamic", None, 20, 4),
                ),
                retry_after_s=1.0,
            ),
        ),
        (
            FIREWORKS,
            RateLimits(
                (
                    Bucket("requests", None, None, 600, 598),
                    Bucket("tokens", None, "input", 60000, 59000),
                    Bucket("tokens", "cache adjusted", "input", 30000, 29000),
                    Bucket("tokens", None, "output", 6000, 100),
                ),
                over_limit=True,
            ),
        ),
        (
            SAMBANOVA,
            RateLimits(
                (
                    Bucket("requests", None, None, 30, 29, 2.0),
                    Bucket("requests", "day", None, 1500, 1497, 15420.0),
                )
            ),
        ),
        (OPENROUTER, RateLimits((Bucket("requests", None, None, 20, 0, 30.0),), retry_after_s=30.0)),
        (
            ANTHROPIC,
            RateLimits(
                (
                    Bucket("requests", None, None, 50, 49, 2.0),
                    Bucket("tokens", None, "input", 40000, 39000, 60.0),
                    Bucket("tokens", "priority", "output", 8000),
                    Bucket("tokens", "fast", "output", 0),
                ),
                retry_after_s=12.0,
            ),
        ),
    ],
    ids=[
        "openai",
        "groq",
        "cerebras",
        "mistral old",
        "mistral",
        "together",
        "fireworks",
        "sambanova",
        "openrouter",
        "anthropic",
    ],
)
def test_header_families(headers, expected):
    assert rate_limits(headers, NOW) == expected


def test_the_tightest_bucket_of_a_kind_is_the_one_with_the_least_headroom():
    assert rate_limits(TOGETHER, NOW).tightest("requests") == Bucket("requests", "dynamic", None, 20, 4)
    assert rate_limits(FIREWORKS, NOW).tightest("tokens") == Bucket("tokens", None, "output", 6000, 100)
    assert rate_limits(MISTRAL_OLD, NOW).tightest("tokens") == Bucket("tokens", None, None, 500000, 499918, 16.0)
    assert rate_limits(OPENROUTER, NOW).tightest("tokens") is None
    unknown = RateLimits((Bucket("tokens", "minute", limit=10), Bucket("tokens", "day", limit=10, remaining=10)))
    assert unknown.tightest("tokens") == Bucket("tokens", "day", limit=10, remaining=10)
    assert RateLimits((Bucket("tokens", limit=10),)).tightest("tokens") == Bucket("tokens", limit=10)


def test_minus_one_is_not_a_limit():
    azure = {
        "x-ratelimit-limit-requests": "-1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "-1",
    }
    assert rate_limits(azure, NOW).buckets == (Bucket("tokens", None, None, 1000),)


def test_a_limit_of_zero_has_no_headroom_to_speak_of():
    bucket = rate_limits({"x-ratelimit-limit-req-minute": "0", "x-ratelimit-remaining-req-minute": "0"}, NOW).buckets[0]
    assert (bucket.limit, bucket.remaining, bucket.headroom) == (0, 0, None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Wed, 18 Nov 2026 11:07:00 GMT"}, 20.0),
        ({"retry-after": "20", "retry-after-ms": "19630"}, 19.63),
        ({"retry-after": "20", "retry-after-ms": "-1"}, 20.0),
        ({"retry-after": "20", "retry-after-ms": "many"}, 20.0),
        ({"retry-after": "1e300"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert rate_limits(headers, NOW).retry_after_s == seconds


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-limit-requests": "unlimited"},
        {"x-ratelimit-limit-requests": "nan", "x-ratelimit-remaining-requests": "inf"},
        {"x-ratelimit-limit-images": "10"},
        {"x-ratelimit-": "1", "x-ratelimit": "1", "ratelimit-policy": "w=1", "x-ratelimit-limit-reset": "1"},
        {"content-type": "text/event-stream", "date": "Wed, 18 Nov 2026 11:07:00 GMT"},
    ],
)
def test_headers_that_say_nothing(headers):
    assert rate_limits(headers, NOW) == RateLimits()


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached for model `x` ... Please try again in 7.66s. Need more tokens?", 7.66),
        ("Please try again in 1m26.4s.", 86.4),
        ("Please try again in 6ms. Visit https://example.com", 0.006),
        ("Please retry after 6 seconds.", 6.0),
        ("Try again in 2 minutes", 120.0),
        ("We're experiencing high traffic right now! Please try again soon.", None),
        ("try again in 5 attempts", None),
        ("", None),
    ],
)
def test_hints_in_words(words, seconds):
    assert retry_hint(words) == seconds


@pytest.mark.parametrize(
    ("bucket", "kept", "words"),
    [
        (Bucket("requests"), "requests=?/?@?", "requests"),
        (Bucket("requests", "day", None, 14400, 14370, 6), "requests/day=14370/14400@6", "requests per day"),
        (Bucket("tokens", "minute", "input", 9, 0, 7.66), "input tokens/minute=0/9@7.66", "input tokens per minute"),
        (Bucket("tokens", "dynamic", "output", 1e6), "output tokens/dynamic=?/1000000@?", "output tokens (dynamic)"),
        (Bucket("tokens", "minute fast", None, 5), "tokens/minute fast=?/5@?", "tokens per minute (fast)"),
    ],
)  # fmt: skip
def test_a_bucket_is_kept_as_text_and_read_back(bucket, kept, words):
    assert str(bucket) == kept
    assert parse_bucket(kept) == bucket
    assert bucket.words == words


@pytest.mark.parametrize("text", ["", "requests", "requests=1/2", "apples=1/2@3", "tokens/MINUTE=1/2@3"])
def test_what_is_no_bucket_is_refused(text):
    with pytest.raises(ValueError, match="not a rate-limit bucket"):
        parse_bucket(text)


def test_a_provider_may_count_over_windows_its_headers_do_not_name():
    limits = rate_limits(GROQ, NOW).over({"requests": "day", "tokens": "minute"})
    assert [one.words for one in limits.buckets] == ["requests per day", "tokens per minute"]
    named = RateLimits((Bucket("requests", "minute"), Bucket("tokens")))
    assert named.over({"requests": "day"}).buckets == (Bucket("requests", "minute"), Bucket("tokens"))


def test_an_absurd_amount_is_not_known():
    headers = {"x-ratelimit-limit-tokens": "1e308", "x-ratelimit-remaining-tokens": "5", "retry-after": "1e300"}
    assert rate_limits(headers, 0.0) == RateLimits((Bucket("tokens", remaining=5.0),))


def test_a_bucket_is_named_in_so_few_words_that_it_can_be_read_back():
    headers = {f"x-ratelimit-limit-{'day-' * 10_000}requests": "5", "x-ratelimit-limit-tokens-minute-usage-based": "7"}
    limits = rate_limits(headers, 0.0)
    assert [one.scope for one in limits.buckets] == ["minute usage based"]
    assert tuple(parse_bucket(str(one)) for one in limits.buckets) == limits.buckets


def test_what_a_gateway_passes_on_completes_its_own_words_and_where_it_differs_is_a_bucket_of_its_own():
    passed_on = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-remaining-tokens": "7",
        "llm_provider-x-ratelimit-limit-requests": "1000",
        "llm_provider-x-ratelimit-remaining-requests": "0",
        "llm_provider-x-ratelimit-reset-requests": "1m27s",
        "llm_provider-x-ratelimit-remaining-tokens": "7",
        "llm_provider-x-ratelimit-reset-tokens": "9s",
        "retry-after": "5",
        "llm_provider-retry-after": "42",
    }
    found = rate_limits(passed_on, 0.0)
    assert found.retry_after_s == 42
    assert set(found.buckets) == {
        Bucket("requests", None, None, 60, 59, None),
        Bucket("requests", "upstream", None, 1000, 0, 87),
        Bucket("tokens", None, None, None, 7, 9),
    }
    assert all(parse_bucket(str(one)) == one for one in found.buckets)
    tightest = found.tightest("requests")
    assert tightest is not None
    assert tightest.words == "requests (upstream)"


def test_headroom_is_a_share_and_the_words_of_a_bucket_without_a_window_are_its_kind():
    assert Bucket("tokens", limit=200.0, remaining=50.0).headroom == 0.25
    assert Bucket("tokens", remaining=0.0).headroom == 0, "of whatever limit"
    assert Bucket("tokens", remaining=5.0).headroom is None
    assert Bucket("tokens").words == "tokens"
    assert Bucket("requests", "dynamic").words == "requests (dynamic)"


def test_text_that_is_no_reset_is_none_however_it_begins_and_a_long_one_is_not_read():
    assert parse_reset("0" * 63 + "5", NOW) == 5
    assert parse_reset("0" * 64 + "5", NOW) is None
    assert parse_reset("  ", NOW) is None


def test_the_longest_reset_is_one_and_a_longer_one_is_none():
    assert parse_reset("34560000", NOW) == 34_560_000  # 400 days
    assert parse_reset("34560001", NOW) is None
    longest = {"retry-after-ms": "34560000000", "retry-after": "7"}
    assert rate_limits(longest, NOW).retry_after_s == 34_560_000
    longer = {"retry-after-ms": "34560000001", "retry-after": "7"}
    assert rate_limits(longer, NOW).retry_after_s == 7


def test_a_wait_in_milliseconds_comes_before_the_coarser_one_even_where_it_is_nothing():
    assert rate_limits({"retry-after-ms": "1500", "retry-after": "2"}, NOW).retry_after_s == 1.5
    assert rate_limits({"retry-after-ms": "0", "retry-after": "2"}, NOW).retry_after_s == 0
    assert rate_limits({"retry-after-ms": "-1", "retry-after": "2"}, NOW).retry_after_s == 2
    assert rate_limits({"retry-after-ms": "9"}, NOW).retry_after_s == 0.009


def test_a_wait_that_was_sent_twice_is_the_longer_and_a_word_in_it_is_none():
    assert rate_limits({"retry-after": "3, 8, soon"}, NOW).retry_after_s == 8
    assert rate_limits({"retry-after": "soon, never"}, NOW).retry_after_s is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("999999999", None),  # a wait of thirty years, which is none
        ("1000000000", 0.0),  # an instant in 2001
        ("1795000005", 5.0),
        ("99999999999", None),  # an instant in the year 5138
        ("100000000000", 0.0),  # milliseconds: an instant in 1973
        ("1795000005500", 5.5),
    ],
)
def test_a_number_is_a_wait_an_instant_or_one_in_milliseconds_by_how_large_it_is(text, seconds):
    assert parse_reset(text, NOW) == seconds


def test_an_instant_is_read_by_the_servers_clock_where_ours_is_not_near_it():
    """A machine whose clock is an hour off would wait an hour too long, or not at all."""
    reset = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2026-11-18T11:07:00Z"}

    def reset_s(date, now):
        return rate_limits({**reset, "date": date}, now).buckets[0].reset_s

    date = "Wed, 18 Nov 2026 11:06:40 GMT"
    assert reset_s(date, NOW) == 20
    assert reset_s(date, NOW - 3600) == 20
    assert reset_s(date, NOW - 5) == 25, "so near it may be right, and the header was cut to whole seconds"
    assert reset_s(date, NOW - 5.5) == 20
    assert reset_s("yesterday", NOW) == 20
    assert rate_limits(reset, NOW).buckets[0].reset_s == 20


@pytest.mark.parametrize("said", ["yes", "true", "1", " TRUE "])
def test_served_over_the_limit_is_said_in_several_ways(said):
    assert rate_limits({"x-ratelimit-over-limit": said}, NOW).over_limit
    assert not rate_limits({"x-ratelimit-over-limit": "no"}, NOW).over_limit
    assert not rate_limits({}, NOW).over_limit


def test_a_bucket_of_which_only_the_reset_is_known_is_one_and_of_which_nothing_is_none():
    assert rate_limits({"x-ratelimit-reset-tokens": "5s"}, NOW).buckets == (Bucket("tokens", reset_s=5.0),)
    assert rate_limits({"x-ratelimit-limit-tokens": "many"}, NOW).buckets == ()


def test_no_provider_grants_more_than_the_largest_amount():
    at_most = {"x-ratelimit-limit-tokens": "1000000000000000", "x-ratelimit-remaining-tokens": "1"}
    assert rate_limits(at_most, NOW).buckets[0].limit == 1e15
    for nonsense in ("1000000000000001", "inf", "nan", "-inf"):
        more = {"x-ratelimit-limit-tokens": nonsense, "x-ratelimit-remaining-tokens": "1"}
        assert rate_limits(more, NOW).buckets[0].limit is None


def test_a_hint_is_looked_for_in_the_beginning_of_a_message_only():
    hint = "try again in 5s"
    assert retry_hint("x" * (1_999 - len(hint)) + " " + hint) == 5
    assert retry_hint("x" * (2_000 - len(hint)) + " " + hint) is None


def test_a_scope_has_an_end():
    words = "-".join(["minute"] * 6)
    assert len(words) == 41
    assert rate_limits({f"x-ratelimit-limit-tokens-{words}": "5"}, NOW).buckets == ()
    scope = "minute minute minute minute minute month"
    assert len(scope) == 40
    assert rate_limits({f"x-ratelimit-limit-tokens-{scope.replace(' ', '-')}": "5"}, NOW).buckets[0].scope == scope


def test_what_a_gateway_passes_on_is_a_bucket_of_its_own_where_it_differs_and_other_headers_are_not():
    own = {"x-ratelimit-limit-requests": "100", "content-type": "x"}
    other = {**own, "llm_provider-x-ratelimit-limit-requests": "60"}
    assert [one.limit for one in rate_limits(other, NOW).buckets] == [100, 60]
    scoped = {"x-ratelimit-limit-tokens-minute": "9", "llm_provider-x-ratelimit-limit-tokens-minute": "6"}
    assert [one.scope for one in rate_limits(scoped, NOW).buckets] == ["minute", "minute upstream"]


def test_what_is_no_bucket_is_quoted_where_it_is_refused():
    with pytest.raises(ValueError, match=r"^not a rate-limit bucket: 'tokens'$"):
        parse_bucket("tokens")


def test_a_wait_that_was_sent_twice_is_read_as_far_as_anybody_would_write_one():
    assert rate_limits({"retry-after": "1," + "0" * 253 + "9"}, NOW).retry_after_s == 1, "too long for a number"
    assert rate_limits({"retry-after": "1," * 127 + "77"}, NOW).retry_after_s == 77
    assert rate_limits({"retry-after": "1," * 127 + " 77"}, NOW).retry_after_s == 7, "256 characters are read"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x-ratelimit-limit-request", "requests"),
        ("x-ratelimit-limit-req-minute", "requests per minute"),
        ("x-ratelimit-limit-token-hour", "tokens per hour"),
    ],
)
def test_a_measure_is_known_in_the_singular_too(name, words):
    [bucket] = rate_limits({name: "5"}, NOW).buckets
    assert bucket.words == words


def test_a_header_of_two_fields_is_of_none():
    assert rate_limits({"x-ratelimit-limit-remaining-tokens": "5"}, NOW).buckets == ()


def test_a_limit_of_nothing_is_a_limit():
    assert rate_limits({"x-ratelimit-limit-tokens": "0"}, NOW).buckets == (Bucket("tokens", limit=0.0),)
    assert rate_limits({"x-ratelimit-limit-tokens": "0.5"}, NOW).buckets[0].limit == 0.5


def test_the_longest_scope_that_a_gateway_passes_on_is_kept_and_read_again():
    kept = Bucket("tokens", "minute minute minute minute minute month upstream", None, 5.0, 1.0, 2.0)
    assert parse_bucket(str(kept)) == kept

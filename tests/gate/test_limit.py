"""Limits as people write them."""

import pytest

from probes.gate.limit import InvalidGateRequest, Limit, parse_limit


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("ttft p50 < 400ms", ("ttft", 0.5, 400.0)),
        ("  TTFT   P95<1.5s ", ("ttft", 0.95, 1500.0)),
        ("e2e p99 < 20 s", ("e2e", 0.99, 20_000.0)),
        ("tokens_per_s p10 > 30", ("tokens_per_s", 0.1, 30.0)),
        ("tokens_per_s p50 > 42.5 tok/s", ("tokens_per_s", 0.5, 42.5)),
        ("errors < 2%", ("errors", None, 0.02)),
    ],
)
def test_a_limit_is_understood(text, limit):
    assert parse_limit(text) == Limit(*limit, " ".join(text.split()))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a limit: write for example"),
        ("ttft", "is not a limit"),
        ("ttft p50 < 400ms && rm", "is not a limit"),
        ("tpot p50 < 40ms", "'tpot' is none of ttft, ttfa, e2e, tokens_per_s, errors"),
        ("ttft < 400ms", 'say which quantile, for example "ttft p50"'),
        ("ttft mean < 400ms", "a mean is no limit"),
        ("ttft p0 < 400ms", "'p0' is no quantile"),
        ("ttft p100 < 400ms", "'p100' is no quantile"),
        ("ttft q50 < 400ms", "'q50' is no quantile"),
        ("ttft p50 < 400", "a time has a unit"),
        ("ttft p50 < 400h", "a time has a unit"),
        ("ttft p50 < 0ms", "more than 0"),
        ("ttft p50 > 400ms", "written with <"),
        ("ttft p50 <= 400ms", "written with <"),
        ("tokens_per_s p50 < 40", "written with >"),
        ("tokens_per_s p50 > 40ms", "is in tokens/s"),
        ("errors p50 < 2%", "no quantile"),
        ("errors < 2", "between 0% and 100%"),
        ("errors < 100%", "between 0% and 100%"),
        ("errors < 0%", "between 0% and 100%"),
    ],
)
def test_what_is_no_limit_is_refused_with_what_is_allowed(text, words):
    with pytest.raises(InvalidGateRequest) as refused:
        parse_limit(text)
    assert words in str(refused.value)

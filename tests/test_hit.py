"""Which bucket refused: by the words providers use, else by their headers."""

import pytest

from probes.hit import limited_by
from probes.ratelimit import Bucket, RateLimits

EMPTY_DAY = RateLimits(
    (Bucket("requests", "day", None, 1000, 0, 86.4), Bucket("tokens", "minute", None, 6000, 5000, 1))
)


@pytest.mark.parametrize(
    ("detail", "bucket"),
    [
        # OpenAI, Groq
        ("Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000 (tokens)", "tokens per minute"),
        (
            "Rate limit reached for model `x` on requests per day (RPD): Limit 1000, Used 1000 (requests)",
            "requests per day",
        ),
        ("Rate limit reached on output tokens per minute (OTPM): Limit 8000", "output tokens per minute"),
        ("Limit OTPM 8000 is used up", "output tokens per minute"),
        # Anthropic
        (
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
            "input tokens per minute",
        ),
        ("Number of concurrent connections has exceeded your rate limit", "concurrent requests"),
        # Cerebras
        ("Tokens per minute limit exceeded - too many tokens processed. (token_quota_exceeded)", "tokens per minute"),
        ("Requests per second limit exceeded", "requests per second"),
        # Kimi
        ("Your account x request reached max concurrency: 3, please try again after 3 seconds", "concurrent requests"),
        ("Your account x request reached max RPM: 20, please try again after 1 seconds", "requests per minute"),
        ("Your account x request reached max TPD rate limit, current: 1500000", "tokens per day"),
        # Gemini
        (
            "GenerateRequestsPerMinutePerProjectPerModel-FreeTier: You exceeded your current quota",
            "requests per minute",
        ),
        ("GenerateContentInputTokensPerModelPerMinute-FreeTier: quota", "input tokens per minute"),
        ("too many requests", None),
        ("", None),
    ],
)
def test_the_words_of_a_refusal_name_the_bucket(detail, bucket):
    assert limited_by(detail, None) == bucket


def test_an_empty_bucket_is_to_blame_where_the_words_name_none():
    assert limited_by("too many requests", EMPTY_DAY) == "requests per day"
    assert limited_by("too many requests", RateLimits((Bucket("tokens", "minute", None, 6000, 12),))) is None


def test_words_come_before_headers():
    assert limited_by("Tokens per minute limit exceeded", EMPTY_DAY) == "tokens per minute"


def test_a_type_alone_names_the_measure_and_the_headers_its_window():
    assert limited_by("slow down (requests)", EMPTY_DAY) == "requests per day"
    assert limited_by("slow down (tokens)", EMPTY_DAY) == "tokens"

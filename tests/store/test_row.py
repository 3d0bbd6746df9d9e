"""Samples as rows, and back."""

import math

import pytest

from probes.outcome import Outcome
from probes.sample import COLUMNS
from probes.store.problem import StoreProblem
from probes.store.row import ENDPOINT_COLUMNS, KINDS, SAMPLE_COLUMNS, endpoint_of, row_of, sample_of
from tests.samples import sample


def test_every_column_is_in_one_of_the_two_rows():
    assert sorted((*ENDPOINT_COLUMNS, *SAMPLE_COLUMNS)) == sorted(COLUMNS)


def test_every_column_has_a_kind():
    assert {
        name: KINDS[name] for name in ("started_at", "endpoint", "outcome", "connection", "ttft_ms", "expect_ok")
    } == {
        "started_at": "int",
        "endpoint": "text",
        "outcome": "word",
        "connection": "word",
        "ttft_ms": "float",
        "expect_ok": "bool",
    }


def test_a_row_holds_the_sample_and_its_endpoint():
    one = sample(ttft_ms=12.345678, http_status=200, served_model="m", expect_ok=False)
    row = row_of(one, 7)
    assert set(row) == {"endpoint_id", *SAMPLE_COLUMNS}
    assert row["endpoint_id"] == 7
    assert (row["ttft_ms"], row["http_status"], row["served_model"], row["expect_ok"]) == (12.345678, 200, "m", False)
    assert endpoint_of(one) == ("local", "sim/model", "sim", "openai_chat", "model")


@pytest.mark.parametrize(
    ("field", "value", "stored"),
    [
        ("ttft_ms", math.nan, None),
        ("ttft_ms", math.inf, None),
        ("tokens_limit", -math.inf, None),
        ("tokens_per_s", 100 / 3, 33.3333333333),
        ("output_tokens", 10**30, None),
        ("output_tokens", 2**31 - 1, 2**31 - 1),
        ("outcome_detail", "a\x1b[31mred\x00\udc80", "ared"),
        ("served_model", "modèle", "modèle"),
    ],
)
def test_a_value_that_no_database_takes_does_not_stop_the_others(field, value, stored):
    assert row_of(sample(**{field: value}), 1)[field] == stored


def test_a_nanosecond_survives():
    assert row_of(sample(e2e_ms=59_999_999_999 / 1e6), 1)["e2e_ms"] == 59_999_999_999 / 1e6


def test_a_sample_comes_back_from_what_the_database_gives():
    one = sample(outcome=Outcome.WRONG_ANSWER, expect_ok=False, trusted=True, over_limit=False, ttft_ms=1.5)
    values = [int(value) if isinstance(value, bool) else value for value in (getattr(one, name) for name in COLUMNS)]
    back = sample_of(values)
    assert back == one
    assert (back.expect_ok, back.trusted, back.over_limit) == (False, True, False)
    assert all(isinstance(one, bool) for one in (back.expect_ok, back.trusted, back.over_limit))
    assert isinstance(back.outcome, Outcome)


def test_an_outcome_of_a_newer_version_is_said_to_be_one():
    values = [getattr(sample(), name) for name in COLUMNS]
    values[COLUMNS.index("outcome")] = "enlightened"
    with pytest.raises(StoreProblem, match="enlightened") as caught:
        sample_of(values)
    assert caught.value.state == "newer"

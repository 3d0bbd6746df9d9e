"""The formulas of timing, each against figures worked out by hand."""

import pytest

from probes import timing
from probes.marks import Content, Marks
from probes.timing import Tokens
from probes.wire.dialect import Kind, Usage

MS = 1_000_000


def marks(*contents: Content, sent: int | None = 0) -> Marks:
    return Marks(due=0, started=0, sent=sent, contents=list(contents))


def stream(
    count: int, gap_ms: float, *, chars: int = 4, start_ms: float = 100, kind: Kind = Kind.ANSWER
) -> list[Content]:
    return [Content(round((start_ms + i * gap_ms) * MS), kind, chars) for i in range(count)]


def usage(output: int, reasoning: int | None = None) -> Tokens:
    return Tokens(input=10, output=output, reasoning=reasoning, source="usage")


def test_ttft_is_the_first_output_of_any_kind_and_ttfa_the_first_answer():
    seen = marks(
        Content(120 * MS, Kind.REASONING, 5), Content(300 * MS, Kind.ANSWER, 5), Content(400 * MS, Kind.ANSWER, 5)
    )
    assert timing.ttft_ms(seen) == 120
    assert timing.ttfa_ms(seen) == 300
    assert timing.e2e_ms(seen) == 400


def test_nothing_is_known_of_a_probe_that_saw_nothing():
    assert timing.ttft_ms(marks()) is None
    assert timing.ttfa_ms(marks()) is None
    assert timing.e2e_ms(marks()) is None
    assert timing.gaps([]) == timing.Gaps()
    assert timing.ttft_ms(marks(*stream(3, 10), sent=None)) is None


def test_an_answer_of_reasoning_only_has_no_ttfa():
    assert timing.ttfa_ms(marks(*stream(5, 20, kind=Kind.REASONING))) is None


def test_speed_leaves_out_the_tokens_of_the_first_event():
    # 11 events of one token each, 10 ms apart: 10 tokens in 100 ms
    assert timing.speed(stream(11, 10), usage(11)).tokens_per_s == 100


def test_speed_takes_the_first_events_tokens_from_running_usage():
    first, *rest = stream(11, 10)
    assert timing.speed([first._replace(tokens=5), *rest], usage(15)).tokens_per_s == 100


def test_speed_shares_tokens_by_characters_where_there_is_no_running_usage():
    # the first of three events holds half of the characters, so half of the 40 tokens
    contents = [Content(0, Kind.ANSWER, 20), Content(50 * MS, Kind.ANSWER, 10), Content(100 * MS, Kind.ANSWER, 10)]
    assert timing.speed(contents, usage(40)).tokens_per_s == 200


def test_hidden_reasoning_is_not_decoded_in_the_visible_span():
    # 111 tokens counted, 100 of them reasoning that was never streamed
    assert timing.speed(stream(11, 10), usage(111, reasoning=100)).tokens_per_s == 100


def test_streamed_reasoning_is_part_of_the_span_and_of_the_count():
    thinking, talking = stream(6, 10, kind=Kind.REASONING), stream(5, 10, start_ms=160)
    assert timing.speed(thinking + talking, usage(11, reasoning=6)).tokens_per_s == 100


@pytest.mark.parametrize(
    ("contents", "tokens", "why"),
    [
        ([*stream(10, 10), Content(100 * MS, Kind.ANSWER, 50, draft=True)], usage(11), "drafts"),
        (stream(11, 10), Tokens(output=11, source="estimate"), "no token count"),
        (stream(11, 10), Tokens(), "no token count"),
        (stream(2, 100), usage(50), "2 content events"),
        ([], usage(50), "0 content events"),
        (stream(100, 0.1), usage(100), "under 50 ms"),
        (stream(10, 0), usage(100), "under 50 ms"),
        (stream(11, 10), usage(1), "too few"),
        (stream(11, 10), usage(0), "too few"),
        (stream(3, 50, kind=Kind.REASONING) + stream(5, 50, start_ms=400), usage(500, reasoning=400), "summary"),
    ],
)
def test_speed_is_withheld_with_the_reason(contents: list[Content], tokens: Tokens, why: str):
    speed = timing.speed(contents, tokens)
    assert speed.tokens_per_s is None
    assert why in (speed.withheld or "")


def test_end_to_end_speed_counts_everything_over_everything():
    assert timing.end_to_end_speed(marks(*stream(11, 10)), usage(100)) == 500
    assert timing.end_to_end_speed(marks(*stream(11, 10)), Tokens(output=100, source="estimate")) is None


def test_gaps_are_between_content_events():
    contents = [Content(at * MS, Kind.ANSWER, 1) for at in (0, 10, 20, 30, 130)]
    assert timing.gaps(contents) == timing.Gaps(p50_ms=10, p95_ms=86.5, max_ms=100)


def test_a_token_count_is_the_providers_own_or_says_that_it_is_an_estimate():
    assert timing.count(Usage(input=3, output=9, reasoning=4), 100) == Tokens(3, None, 9, 4, "usage")
    assert timing.count(None, 41) == Tokens(output=11, source="estimate")
    assert timing.count(Usage(input=3), 4) == Tokens(3, None, 1, None, "estimate")
    assert timing.count(None, 0) == Tokens()


def test_a_span_needs_both_ends():
    assert timing.span_ms(None, 5) is None
    assert timing.span_ms(5, None) is None
    assert timing.span_ms(1_000_000, 3_500_000) == 2.5

"""The formulas of timing, each against figures worked out by hand."""

from probes.events import Kind, Usage
from probes.figures import timing
from probes.figures.timeline import ContentEvent, Timeline
from probes.figures.timing import Tokens
from probes.sockets.connection_timing import Step

MS = 1_000_000


def timeline(*contents: ContentEvent, sent: int | None = 0) -> Timeline:
    return Timeline(due=0, started=0, sent=sent, contents=list(contents))


def stream(
    count: int, gap_ms: float, *, chars: int = 4, start_ms: float = 100, kind: Kind = Kind.ANSWER
) -> list[ContentEvent]:
    return [ContentEvent(round((start_ms + i * gap_ms) * MS), kind, chars) for i in range(count)]


def usage(output: int, reasoning: int | None = None) -> Tokens:
    return Tokens(input=10, output=output, reasoning=reasoning, source="usage")


def test_ttft_is_the_first_output_of_any_kind_and_ttfa_the_first_answer():
    seen = timeline(
        ContentEvent(120 * MS, Kind.REASONING, 5),
        ContentEvent(300 * MS, Kind.ANSWER, 5),
        ContentEvent(400 * MS, Kind.ANSWER, 5),
    )
    assert timing.ttft_ms(seen) == 120
    assert timing.ttfa_ms(seen) == 300
    assert timing.e2e_ms(seen) == 400


def test_nothing_is_known_of_a_probe_that_saw_nothing():
    assert timing.ttft_ms(timeline()) is None
    assert timing.ttfa_ms(timeline()) is None
    assert timing.e2e_ms(timeline()) is None
    assert timing.gaps([]) == timing.Gaps()
    assert timing.ttft_ms(timeline(*stream(3, 10), sent=None)) is None


def test_an_answer_of_reasoning_only_has_no_ttfa():
    assert timing.ttfa_ms(timeline(*stream(5, 20, kind=Kind.REASONING))) is None


def test_end_to_end_speed_counts_everything_over_everything():
    assert timing.end_to_end_speed(timeline(*stream(11, 10)), usage(100)) == 500
    assert timing.end_to_end_speed(timeline(*stream(11, 10)), Tokens(output=100, source="estimate")) is None


def test_end_to_end_speed_is_told_to_three_digits_and_of_some_time_only():
    assert timing.end_to_end_speed(timeline(ContentEvent(3 * MS, Kind.ANSWER, 1)), usage(1)) == 333.333
    assert timing.end_to_end_speed(timeline(ContentEvent(MS, Kind.ANSWER, 1)), usage(1)) == 1_000
    assert timing.end_to_end_speed(timeline(ContentEvent(0, Kind.ANSWER, 1)), usage(1)) is None
    assert timing.end_to_end_speed(timeline(ContentEvent(0, Kind.ANSWER, 1), sent=None), usage(1)) is None


def test_gaps_are_between_content_events():
    contents = [ContentEvent(at * MS, Kind.ANSWER, 1) for at in (0, 10, 20, 30, 130)]
    assert timing.gaps(contents) == timing.Gaps(p50_ms=10, p95_ms=86.5, max_ms=100)


def test_a_token_count_is_the_providers_own_or_says_that_it_is_an_estimate():
    assert timing.count_tokens(Usage(input=3, output=9, reasoning=4), 100) == Tokens(3, None, 9, 4, "usage")
    assert timing.count_tokens(None, 41) == Tokens(output=11, source="estimate")
    assert timing.count_tokens(Usage(input=3), 4) == Tokens(3, None, 1, None, "estimate")
    assert timing.count_tokens(None, 0) == Tokens()


def test_a_span_needs_both_ends():
    assert timing.span_ms(None, 5) is None
    assert timing.span_ms(5, None) is None
    assert timing.span_ms(1_000_000, 3_500_000) == 2.5


def test_a_step_of_a_connection_that_was_not_taken_has_no_length():
    assert timing.step_ms(Step(1_000_000, 3_500_000)) == 2.5
    assert timing.step_ms(None) is None


def test_times_are_told_to_a_tenth_of_a_microsecond():
    assert timing.span_ms(0, 1_234_567) == 1.2346
    contents = [ContentEvent(at, Kind.ANSWER, 1) for at in (0, 1_234_567)]
    assert timing.gaps(contents) == timing.Gaps(1.2346, 1.2346, 1.2346)


def test_a_speed_that_no_hardware_has_is_not_told():
    contents = [ContentEvent(at * MS, Kind.ANSWER, 1) for at in (1, 1_000)]
    assert timing.end_to_end_speed(timeline(*contents), usage(100_000)) == 100_000
    assert timing.end_to_end_speed(timeline(*contents), usage(100_001)) is None

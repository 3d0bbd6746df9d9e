"""The steady clock: it follows when it is told to, knows a step from a sleep, and says either in words."""

import pytest

from probes.clock import ClockChange, ClockReading, SteadyClock, read_clocks

S = 10**9
AT = 1_800_000_000
"""08:00 UTC."""


class Script:
    """Clocks that say what they are told to."""

    def __init__(self) -> None:
        self.reading = ClockReading(AT * S, 50 * S, 40 * S)

    def __call__(self) -> ClockReading:
        return self.reading

    def passes(self, seconds: float = 0.0, *, slept: float = 0.0, set_by: float = 0.0) -> None:
        elapsed = round((seconds + slept) * S)
        one = self.reading
        self.reading = ClockReading(
            one.wall + elapsed + round(set_by * S), one.elapsed + elapsed, one.awake + round(seconds * S)
        )


def test_it_goes_on_steadily_until_it_is_told_to_follow():
    script = Script()
    clock = SteadyClock(script)
    script.passes(10, set_by=-10_800)
    assert clock.now() == AT + 10
    assert clock.follow() == ClockChange(set_by=-10_800.0)
    assert clock.now() == AT + 10 - 10_800
    assert clock.follow() == ClockChange()
    assert clock.elapsed() == 60.0
    assert clock.at(70.0) == clock.now() + 10


def test_a_sleep_is_no_step():
    script = Script()
    clock = SteadyClock(script)
    script.passes(2, slept=3600)
    assert clock.now() == AT + 3602
    assert clock.follow() == ClockChange(slept=3600.0)
    script.passes(2, slept=60, set_by=5)
    assert clock.follow() == ClockChange(set_by=5.0, slept=60.0)


def test_what_is_less_than_a_millisecond_waits_until_it_is_one():
    script = Script()
    clock = SteadyClock(script)
    found = []
    for _ in range(6):
        script.passes(1, set_by=0.0004)
        found.append(clock.follow().set_by)
    assert found == [0.0, 0.0, pytest.approx(0.0012), 0.0, 0.0, pytest.approx(0.0012)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (ClockChange(set_by=-10_800), "the clock was set back 3 h 0 min at 08:00 UTC: schedule re-aligned"),
        (ClockChange(set_by=303.2), "the clock was set forward 5 min 3 s at 08:00 UTC: schedule re-aligned"),
        (ClockChange(set_by=-1), "the clock was set back 1 s at 08:00 UTC: schedule re-aligned"),
        (ClockChange(set_by=180_000), "the clock was set forward 2 d 2 h at 08:00 UTC: schedule re-aligned"),
        (ClockChange(slept=28_800), "the machine slept 8 h 0 min until 08:00 UTC: schedule re-aligned"),
        (ClockChange(set_by=0.2), None),
        (ClockChange(), None),
    ],
)
def test_what_is_said(change: ClockChange, words: str | None):
    assert change.words(AT) == words


def test_the_machine_s_own_clocks_agree_with_themselves():
    clock = SteadyClock()
    one, other = read_clocks(), read_clocks()
    assert one.elapsed <= other.elapsed
    assert one.awake <= other.awake
    assert one.elapsed >= one.awake - S, "asleep or awake, time passes"
    assert abs(clock.now() - other.wall / 1e9) < 60

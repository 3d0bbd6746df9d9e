"""Tries: only a machine that was held up in every try excuses a test."""

import pytest

from tests import tries as module
from tests.tries import tries


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch):
    monkeypatch.setattr(module, "waiting_s", lambda: 0.0)


def steals(monkeypatch, *each_ms):
    """What the hypervisor takes in each try, and nothing between two."""
    said = [0.0]
    for taken in each_ms:
        said += [said[-1], said[-1] + taken]
    following = iter(said[1:])
    monkeypatch.setattr(module, "steal_ms", lambda: next(following))
    monkeypatch.setattr(module, "throttled", lambda: 0)


def test_a_test_is_skipped_where_every_try_was_held_up(monkeypatch):
    steals(monkeypatch, 10.0, 10.0, 30.0)
    with pytest.raises(pytest.skip.Exception, match="each of 3 tries: 50 ms stolen"):
        list(tries(3))


def test_a_quota_holds_a_try_up_too(monkeypatch):
    halts = iter([0, 2, 2, 3])
    monkeypatch.setattr(module, "steal_ms", lambda: None)
    monkeypatch.setattr(module, "throttled", lambda: next(halts))
    with pytest.raises(pytest.skip.Exception, match="3 halts"):
        list(tries(2))


def test_one_try_that_was_left_alone_is_no_excuse_however_much_was_stolen_in_the_others(monkeypatch):
    steals(monkeypatch, 5_000.0, 0.0, 5_000.0)
    assert list(tries(3)) == [0, 1, 2]


@pytest.mark.parametrize(("waited_s", "excused"), [(0.9, False), (1.1, True)])
def test_other_programs_hold_a_try_up_where_somebody_waited_a_tenth_of_it_for_a_processor(
    monkeypatch, waited_s, excused
):
    steals(monkeypatch, 0.0)
    clock, pressure = iter([100.0, 110.0]), iter([5.0, 5.0 + waited_s])
    monkeypatch.setattr(module, "now_s", lambda: next(clock))
    monkeypatch.setattr(module, "waiting_s", lambda: next(pressure))
    if excused:
        with pytest.raises(pytest.skip.Exception, match=r"1\.1 s in which somebody waited"):
            list(tries(1))
    else:
        assert list(tries(1)) == [0]

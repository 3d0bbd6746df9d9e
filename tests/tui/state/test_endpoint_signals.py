"""Told: the same whatever the order in which the store and the feed say it."""

from itertools import permutations

from tests.samples import sample
from tui.state.rate_limits import LimitReading
from tui.state.served_by import CHANGES_KEPT, KEPT, EndpointSignals, ServingChange, ServingSeen

T0 = 1_800_000_000_000


def test_any_order_and_any_repetition_end_in_the_same():
    samples = [
        sample(started_at=T0 + n, served_model=model, limit_buckets=f"tokens={9 - n}/10@?")
        for n, model in enumerate("aab")
    ]
    ends = set()
    for order in permutations(samples):
        told = EndpointSignals()
        for one in (*order, order[0]):
            told.hear(one)
        ends.add((told.readings, told.seen, told.changes, told.levels))
    assert len(ends) == 1
    assert told.changes == (ServingChange(T0 + 2, "model", "a", "b"),)
    assert told.levels[0].headroom == 0.7


def test_a_change_found_late_replaces_the_one_seen_without_it():
    told = EndpointSignals()
    told.join(seen=[ServingSeen(1, "a"), ServingSeen(9, "b")])
    told.join(seen=[ServingSeen(5, "b")])
    assert told.changes == (ServingChange(5, "model", "a", "b"),)


def test_changes_outlive_the_samples_and_the_store_tells_older_ones():
    told = EndpointSignals()
    for at in range(100, 100 + 2 * KEPT):
        told.join(seen=[ServingSeen(at, "a" if at < 110 else "b")])
    told.join(moments=[ServingChange(50, "model", "z", "a"), ServingChange(110, "model", "a", "b")])
    assert told.changes == (ServingChange(50, "model", "z", "a"), ServingChange(110, "model", "a", "b"))
    assert len(told.seen) == KEPT


def test_changes_are_bounded_and_the_same_value_while_nothing_is_new():
    told = EndpointSignals()
    for at in range(2 * CHANGES_KEPT):
        told.join(seen=[ServingSeen(at, str(at))])
    assert (len(told.changes), told.changes[-1].after) == (CHANGES_KEPT, str(2 * CHANGES_KEPT - 1))
    before = told.changes
    told.join(seen=[ServingSeen(2 * CHANGES_KEPT, str(2 * CHANGES_KEPT - 1))])
    assert told.changes is before


def test_levels_follow_new_readings():
    told = EndpointSignals()
    assert told.levels == ()
    told.join([LimitReading.of(sample(limit_buckets="tokens=1/10@?"))])
    assert told.levels[0].headroom == 0.1

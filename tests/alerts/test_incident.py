"""Ids of incidents."""

from probes.alerts.incident import new_incident_id
from probes.alerts.state import SEVERITY, WORST_FIRST, State


def test_ids_sort_by_time_and_differ_within_a_millisecond():
    at = [0, 1, 1_000, 1_790_000_000_000, 1_790_000_000_001, (1 << 48) - 1]
    ids = [new_incident_id(one) for one in at]
    assert ids == sorted(ids)
    assert len({new_incident_id(5) for _ in range(1000)}) == 1000
    assert {len(one) for one in ids} == {26}


def test_an_id_begins_with_the_time_as_the_specification_of_ulid_has_it():
    assert new_incident_id(1_469_918_176_385).startswith("01ARYZ6S41")  # the specification's own example


def test_down_is_the_worst_and_well_endpoints_make_no_incident():
    assert WORST_FIRST[0] is State.DOWN
    assert {State.OK, State.LEARNING}.isdisjoint(SEVERITY)

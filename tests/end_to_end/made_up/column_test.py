"""The made-up column: how much longer than usual a probe would have waited."""

from probes.measure.build_sample import patience_ms


def test_patience_is_what_is_left_of_a_second():
    assert patience_ms(400.0) == 600.0
    assert patience_ms(1_400.0) == 0.0
    assert patience_ms(None) is None

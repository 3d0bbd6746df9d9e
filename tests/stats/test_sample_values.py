"""What is derived from the values of a sample."""

from probes.stats.sample_values import chars_per_s


def test_characters_a_second_need_output_and_a_time():
    assert chars_per_s(1000, 500.0) == 2000.0
    assert chars_per_s(None, 500.0) is chars_per_s(0, 500.0) is chars_per_s(1000, None) is chars_per_s(1, 0.0) is None

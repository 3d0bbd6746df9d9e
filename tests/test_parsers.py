"""Every decoder and parser of what comes from outside keeps its promise, whatever comes.

``INFTOP_FUZZ=50 pytest tests/test_parsers.py`` tries fifty times as many examples, others each time.
"""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.parsers import PARSERS, seeds

pytestmark = pytest.mark.slow

MORE = int(os.environ.get("INFTOP_FUZZ", "1"))
examples = settings(
    max_examples=40 * MORE,
    deadline=None,
    derandomize=MORE == 1,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TOKENS = st.sampled_from(
    [b"\n", b"\r\n\r\n", b'"', b"{", b"}", b"[", b"null", b"1e308", b"-1", b"\\ud800", b"\xff", b"\0"]
)


@st.composite
def spoilt(draw: st.DrawFn, good: list[bytes]) -> bytes:
    """Any bytes, or good ones of which some are cut out and others put in their place."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=200))
    data = draw(st.sampled_from(good))
    for _ in range(draw(st.integers(1, 5))):
        start, length = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
        data = data[:start] + draw(TOKENS | st.binary(max_size=8)) + data[start + length :]
    return data


@pytest.mark.parametrize("name", PARSERS)
def test_whatever_comes_a_parser_keeps_its_promise(name):
    @examples
    @given(data=spoilt(seeds(name)))
    def holds(data: bytes) -> None:
        PARSERS[name](data)

    for good in seeds(name):
        PARSERS[name](good)
    holds()

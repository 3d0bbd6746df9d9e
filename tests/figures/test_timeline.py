"""The instants of one probe: a response cannot come before its request, and what was sent again begins anew."""

import pytest

from probes.figures.timeline import CLOCK_ERROR_NS, Timeline
from probes.sockets.connection_timing import SEND_NS, Stamp

SENT = 1_000_000_000


@pytest.mark.parametrize(
    ("uncertainty_ns", "earlier_ns", "possible"),
    [
        (0, 0, True),
        (0, -5, True),
        (0, CLOCK_ERROR_NS, True),
        (0, CLOCK_ERROR_NS + 1, False),
        (None, CLOCK_ERROR_NS, True),
        (None, CLOCK_ERROR_NS + 1, False),
        (30_000, CLOCK_ERROR_NS + 30_000, True),
        (30_000, CLOCK_ERROR_NS + 30_001, False),
        (10 * SEND_NS, CLOCK_ERROR_NS + SEND_NS, True),  # the stamp of a send is never later than so much
        (10 * SEND_NS, CLOCK_ERROR_NS + SEND_NS + 1, False),
    ],
)
def test_a_response_that_began_before_its_request_can_have_gone_is_none(uncertainty_ns, earlier_ns, possible):
    timeline = Timeline(due=0, started=0, sent=SENT, sent_uncertainty_ns=uncertainty_ns)
    assert timeline.response_began(SENT - earlier_ns) is possible
    moved = possible and earlier_ns > 0
    assert timeline.sent == (SENT - earlier_ns if moved else SENT), "it was sent by then"


def test_where_nothing_was_sent_any_response_is_too_early_to_judge():
    timeline = Timeline(due=0, started=0)
    assert timeline.response_began(5) is True
    assert timeline.sent is None


def test_a_request_that_is_sent_again_has_the_times_of_that_attempt():
    timeline = Timeline(due=1, started=2, sent=3, sent_uncertainty_ns=4, kernel=True, headers=5, first_event=6)
    timeline.restart()
    assert timeline == Timeline(due=1, started=2, reopened=True)


def test_the_kernel_stamped_a_response_where_it_stamped_every_read():
    timeline = Timeline(due=0, started=0)
    for kernel, told in ((True, True), (True, True), (False, False), (True, False)):
        timeline.note_clock(Stamp(1, kernel=kernel))
        assert timeline.kernel is told

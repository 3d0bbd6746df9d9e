"""How a probe can end, as one tree.

::

    ok                    a complete answer
    ├─ connection         dns · connect · tls
    ├─ time               timeout                 (the detail names the deadline: connect, first token, stall, total)
    ├─ the request        auth · not_found · bad_request
    ├─ capacity           rate_limited · quota · overloaded
    ├─ the server         server_error
    ├─ the stream         stream_error · cut · protocol · empty
    ├─ the answer         refused · wrong_answer
    ├─ inftop itself      own_fault               (stopped, suspended, out of descriptors or memory, a defect)
    └─ never sent         no_key · skipped        (budget, pause, back-off, still running)
"""

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """How one probe ended; the value is what stores, exports and the feed hold."""

    OK = "ok"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    STREAM_ERROR = "stream_error"
    CUT = "cut"
    PROTOCOL = "protocol"
    EMPTY = "empty"
    REFUSED = "refused"
    WRONG_ANSWER = "wrong_answer"
    OWN_FAULT = "own_fault"
    NO_KEY = "no_key"
    SKIPPED = "skipped"


NEVER_SENT: Final = frozenset({Outcome.NO_KEY, Outcome.SKIPPED})
"""Nothing went over the wire, or the probe was abandoned unmeasured: no timing, no part in any rate."""

INCONCLUSIVE: Final = NEVER_SENT | {Outcome.OWN_FAULT}
"""Says nothing about the endpoint. What inftop itself spoilt may have been sent, and may have cost something."""

UNCOUNTED: Final = INCONCLUSIVE | {Outcome.RATE_LIMITED}
"""Left out of the error rate, above and below the line."""

FAILED: Final = frozenset(Outcome) - UNCOUNTED - {Outcome.OK}
"""What the error rate counts as failed; quota and overload are among them."""

LIMITED: Final = frozenset({Outcome.RATE_LIMITED, Outcome.QUOTA})
"""Outcomes after which an endpoint backs off."""

SET_UP: Final = frozenset({Outcome.DNS, Outcome.CONNECT, Outcome.TLS})
"""Outcomes of a connection that did not come about; `tls` also of one that ended for want of a client certificate."""

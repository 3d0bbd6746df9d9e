"""The failure that a server's close of a WebSocket comes to, by its close code and reason; pure.

Codes: RFC 6455 §7.4.1 and IANA's registry of them; 4000 to 4999 are for applications, and many add 4000 to the HTTP
status.
"""

import re
from collections.abc import Mapping
from typing import Final

from probes.events import Failure
from probes.outcome import Outcome
from probes.rate_limits.headers import retry_hint
from probes.text import line
from probes.wire.errors.error_outcome import outcome_of

_CODES: Final[Mapping[int, Outcome]] = {
    1002: Outcome.PROTOCOL,
    1003: Outcome.PROTOCOL,
    1007: Outcome.PROTOCOL,
    1008: Outcome.BAD_REQUEST,  # a policy; only the reason can say which
    1009: Outcome.BAD_REQUEST,  # our message is too big for it
    1011: Outcome.SERVER_ERROR,
    1012: Outcome.OVERLOADED,  # it restarts
    1013: Outcome.OVERLOADED,  # "try again later"
    1014: Outcome.SERVER_ERROR,  # a gateway's, about the server behind it
    3000: Outcome.AUTH,
    3003: Outcome.AUTH,
}
_APPLICATION: Final = 4000
_REASONS: Final = (
    # a reason is a few words without a code or type beside them
    (Outcome.QUOTA, re.compile(r"quota|credit|billing|balance", re.IGNORECASE)),
    (Outcome.RATE_LIMITED, re.compile(r"rate.?limit|too many (?:requests|tokens)|throttl", re.IGNORECASE)),
    (Outcome.OVERLOADED, re.compile(r"overload|at capacity|try again later", re.IGNORECASE)),
    (
        Outcome.AUTH,
        re.compile(
            r"unauthori[sz]ed|forbidden|authenticat|(?:invalid|expired|missing) .{0,20}(?:key|token)", re.IGNORECASE
        ),
    ),
    (Outcome.NOT_FOUND, re.compile(r"model.{0,80}(?:not found|does not exist)", re.IGNORECASE)),
)


def failure_of_close(code: int, reason: str) -> Failure:
    """The failure of a close with this code and reason: by the reason, else by the code, else a stream that was cut."""
    words = f"{code} {reason}".strip()
    detail = f"the server closed the socket: {line(words)}"
    outcome = next((outcome for outcome, pattern in _REASONS if pattern.search(reason)), None)
    outcome = outcome or outcome_of((), reason, _status(code)) or _CODES.get(code, Outcome.CUT)
    return Failure(outcome, detail, retry_hint(reason), provider_message=reason)


def _status(code: int) -> int | None:
    """The HTTP status that an application's code has 4000 added to; None for any other code."""
    status = code - _APPLICATION
    return status if 400 <= status < 600 else None

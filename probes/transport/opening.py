"""Opening: how far a connection came that was being opened, and what its failure is told as."""

from dataclasses import dataclass, replace
from typing import Literal

from probes.endpoint import Endpoint
from probes.events import Failure
from probes.outcome import SET_UP, Outcome
from probes.route import BEYOND_PROXY, ignored_proxy, ignored_words
from probes.sockets.connection_timing import ConnectionTiming


@dataclass(slots=True)
class OpeningProgress:
    """How far the opening of a connection has come: the step it is at, and, once connected, what it took so far.

    ``where`` is put before the words of a failure to connect: whom it is that is being connected to.
    """

    step: Literal["connect", "proxy", "tls", "upgrade", "done"] = "connect"
    setup: ConnectionTiming | None = None
    where: str = ""

    def late(self, late: Failure) -> Failure:
        """A time-out in the words of the step that was waited for; of the TLS handshake it is a failure of that."""
        phase, _, passed = late.detail.partition(": ")
        match self.step:
            case "tls":
                return Failure(Outcome.TLS, f"the handshake has not ended: {passed}")
            case "proxy":
                return replace(late, detail=f"{phase}: {BEYOND_PROXY}{passed}")
            case "upgrade":
                return replace(late, detail=f"{phase}: the upgrade has not ended: {passed}")
            case _:
                return replace(late, detail=f"{phase}: {self.where}{passed}")


def opening_failure(trouble: Failure, opening: OpeningProgress, endpoint: Endpoint) -> Failure:
    """The trouble of a probe whose connection did not come about: at which step, and whether a proxy would help."""
    if trouble.outcome is Outcome.TIMEOUT:
        trouble = opening.late(trouble)
    elif trouble.outcome not in SET_UP:
        return trouble
    variable = ignored_proxy(endpoint.route, endpoint.base_url)
    if variable is None or opening.step == "upgrade":  # the server was reached
        return trouble
    return replace(trouble, detail=f"{trouble.detail}; {ignored_words(variable)}")

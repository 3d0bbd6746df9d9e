"""What a replay says: the alerts that would have been sent, and how often they were calibrated to be false."""

from msgspec import Struct

from probes.alerts.incident import Culprit
from probes.alerts.state import Metric, Severity


class ReplayedAlert(Struct, frozen=True, kw_only=True):
    """An alert that would have been sent; instants are milliseconds since the epoch, ``resolved_at`` None: it lasts.

    ``cause`` is whose fault it is (``endpoint``, ``model``, ``provider`` or ``network``) and ``name`` which. ``kind``
    is the worst state (``alert`` by a simple rule), ``ratio`` how many times slower than usual it was at worst.
    """

    opened_at: int
    resolved_at: int | None
    cause: Culprit
    name: str
    kind: str
    severity: Severity
    members: tuple[str, ...]
    metric: Metric | None = None
    ratio: float | None = None


class ReplayResult(Struct, frozen=True, kw_only=True):
    """The alerts of a replay from ``since`` until before ``until`` (ms since the epoch), the oldest first.

    ``endpoint_weeks`` is for how long samples were replayed, over all endpoints. ``calibrated_per_week`` is how often
    in a week an endpoint's own past passed the thresholds of slowness of the last night, which are made of it; somebody
    is told past a margin, less often. None: there are none.
    """

    rule: str
    since: int
    until: int
    endpoints: int
    samples: int
    endpoint_weeks: float
    calibrated_per_week: float | None
    alerts: tuple[ReplayedAlert, ...]

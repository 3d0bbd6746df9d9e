"""What the store knows of the past, for judges: endpoints, their samples, and the sketches of their hours."""
# ruff: noqa: S608 - statements are put together from names of this package; values are always parameters

from collections.abc import Collection, Iterator
from typing import Final

from probes.alerts.detect.nightly import METRICS, HourSketches
from probes.alerts.detect.observation import COLUMNS, Observation, observed
from probes.alerts.detect.replay import ReplayedEndpoint
from probes.endpoint import Lane, Policy
from probes.stats.sketch import Sketch
from probes.store.problem import StoreProblem
from probes.store.read.reader import StoreReader
from probes.store.read.source import placeholders
from probes.store.row import EndpointKey
from probes.store.vantage import IMPORTED
from probes.text import plain

BOTH: Final = 0.2
"""An endpoint is probed on both lanes where the one with fewer samples has at least such a share of them."""

_SAMPLES: Final = f"""
SELECT {", ".join(COLUMNS)}, kind FROM sample
WHERE endpoint_id = ? AND started_at >= ? AND started_at < ? ORDER BY started_at, id
"""
_HOURS: Final = f"""
SELECT connection, start, {", ".join(METRICS)} FROM sketch
WHERE tier = 'hour' AND endpoint_id = ? AND connection IN ('warm', 'cold') AND start >= ? AND start < ? ORDER BY start
"""
_LANES: Final = """
SELECT connection, sum(samples) FROM rollup
WHERE tier = 'hour' AND endpoint_id = ? AND connection IN ('warm', 'cold') AND start >= ? AND start < ? GROUP BY 1
"""
_ID: Final = "SELECT id FROM endpoint WHERE vantage = ? AND name = ? AND provider = ? AND dialect = ? AND model = ?"


def endpoint_id(reader: StoreReader, key: EndpointKey) -> int | None:
    """The id of an endpoint's row; None where it was never probed. Raises StoreProblem."""
    rows = reader.few(_ID, key)
    return int(rows[0][0]) if rows else None


def recorded_endpoints(
    reader: StoreReader, since: int, until: int, names: Collection[str] = ()
) -> dict[int, ReplayedEndpoint]:
    """The endpoints with these names (none: all) that were probed between two instants in ms, by the ids of their rows.

    An endpoint whose model or dialect was changed is another one from then on. Raises StoreProblem.
    """
    where = f"WHERE name IN ({placeholders(len(names))})" if names else ""
    sql = f"SELECT id, vantage, name, provider, model FROM endpoint {where} ORDER BY id"
    found = {}
    for number, vantage, name, provider, model in reader.few(sql, [*names]):
        if not vantage.startswith(IMPORTED) and (policy := _policy(reader, number, since, until)) is not None:
            found[number] = ReplayedEndpoint(vantage, name, provider, model, policy)
    return found


def _policy(reader: StoreReader, endpoint: int, since: int, until: int) -> Policy | None:
    """On what an endpoint was probed between two instants; None where it was not."""
    counts: dict[Lane, int] = dict(reader.few(_LANES, (endpoint, since, until)))
    warm, cold = counts.get("warm", 0), counts.get("cold", 0)
    if warm + cold == 0:
        return None
    return "both" if min(warm, cold) > BOTH * (warm + cold) else "warm" if warm > cold else "cold"


def past_samples(reader: StoreReader, endpoint: int, since: int, until: int) -> Iterator[Observation]:
    """The samples of an endpoint's row between two instants in ms, the oldest first. Raises StoreProblem."""
    for rows in reader.rows(_SAMPLES, (endpoint, since, until)):
        for row in rows:
            try:
                yield observed(*row)
            except KeyError:
                raise StoreProblem("newer", f"the store holds an unknown outcome: {plain(str(row[1]))}") from None


def past_hours(reader: StoreReader, endpoint: int, since: int, until: int) -> Iterator[HourSketches]:
    """The sketches of the hours of an endpoint's row between two instants in ms, in order. Raises StoreProblem."""
    for rows in reader.rows(_HOURS, (endpoint, since, until)):
        for lane, start, ttft, decode in rows:
            yield HourSketches(lane, start, ttft and Sketch.decode(ttft), decode and Sketch.decode(decode))

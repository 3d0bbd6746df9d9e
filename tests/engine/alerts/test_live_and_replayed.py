"""What happened live is what a replay of the store says: the same incidents, whatever the interval and the failure."""

from contextlib import closing

import pytest
from msgspec.structs import replace

from probes.outcome import Outcome
from probes.store.alerts.incidents import read_incidents
from probes.store.alerts.past import recorded_endpoints
from probes.store.alerts.replay import replay
from probes.store.read.reader import StoreReader
from tests.engine.alerts.world import World, provider
from tests.store.stores import fill, url_of
from tests.virtual_time import run

TICK_MS = 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("interval", "outcome"), [(5.0, Outcome.CONNECT), (5.0, Outcome.AUTH), (60.0, Outcome.SERVER_ERROR)]
)
def test_a_replay_says_what_happened_live(tmp_path, interval, outcome):
    url = url_of(tmp_path / "history.db")
    counts = {"p": 2, "q": 1, "r": 1, "s": 1, "t": 1}
    endpoints = [
        one
        for name, count in counts.items()
        for one in provider(name, count, interval=interval, base_url=f"https://{name}.example/v1")
    ]

    def script(endpoint, seconds):
        in_outage = endpoint.provider == "p" and 4 * interval <= seconds < 12 * interval
        is_back = endpoint.name == "p/1" and 20 * interval <= seconds < 34 * interval
        has_no_address = endpoint.provider == "r"
        return Outcome.DNS if has_no_address else outcome if in_outage or is_back else Outcome.OK

    fill(url, [])
    world = World(url, endpoints, script)
    run(world.loop, world.play(40 * interval))
    never_connected = [replace(one, connection=None) if one.provider == "r" else one for one in world.samples]
    fill(url, never_connected)
    with closing(StoreReader(url)) as reader:
        live = {
            (one.cause.culprit, one.cause.name, one.worst.value): one
            for one in read_incidents(reader)
            if one.notifications
        }
        [lasting] = [one.interval for one in recorded_endpoints(reader, 0, world.at(1e6), ["r/0"]).values()]
    again = replay(url, world.at(0), world.at(40 * interval))
    assert again.endpoints == 6
    assert lasting == pytest.approx(interval, rel=0.1)
    assert {(one.cause, one.name, one.kind) for one in again.alerts} == live.keys()
    for one in again.alerts:
        other = live[one.cause, one.name, one.kind]
        assert set(one.members) == {each.endpoint for each in other.members}
        assert abs(one.opened_at - other.opened_at) <= TICK_MS
        assert (one.resolved_at is None) == (other.resolved_at is None)

"""llama.cpp races itself with models of two sizes: the smaller one wins, and by what the servers say themselves."""

from collections.abc import Iterator

import pytest

from probes.endpoint import Endpoint
from probes.engine.race.lanes import lane_endpoints
from probes.engine.race.race_task import RaceTask
from probes.outcome import Outcome
from probes.race.race import Race
from probes.race.request import RaceRequest
from probes.sockets import event_loop
from probes.stats.quantiles import median
from tests.engine.services import ScriptedServices
from tests.referee.server import serving
from tests.samples import endpoint

REQUEST = RaceRequest(("small", "large"), "Tell a story.", max_output_tokens=64, heats=4)


@pytest.fixture(scope="module")
def rivals(model, url, tmp_path_factory) -> Iterator[list[Endpoint]]:
    """A server of the small model, and one of a model that has to read over a hundred times the weights for a token."""
    from tests.referee.model import PACED, write

    path = tmp_path_factory.mktemp("race") / "large.gguf"
    write(path, PACED)
    with serving(path) as other:
        yield [
            endpoint(name=name, model=name, base_url=base_url) for name, base_url in (("small", url), ("large", other))
        ]


def test_the_smaller_model_wins_and_the_servers_own_times_say_so_too(rivals):
    async def run() -> Race:
        services = ScriptedServices()
        probers = [services.make_prober(one) for one in lane_endpoints(REQUEST, rivals)]
        return await RaceTask(REQUEST, probers, services).run()

    race = event_loop.run(run())
    assert {one.sample.outcome for heat in race.heats for one in heat.lanes} == {Outcome.OK}
    assert {one.sample.output_tokens for heat in race.heats for one in heat.lanes} == {64}
    small, large = ([heat.lanes[lane].sample for heat in race.heats] for lane in (0, 1))
    theirs = [median(one.server_tokens_per_s for one in samples) for samples in (small, large)]
    assert None not in theirs
    assert theirs[0] > theirs[1]
    assert race.verdict.leader == "small"
    assert [heat.lanes[0].place for heat in race.heats].count(1) >= 3  # one heat may fall into a stall of the machine

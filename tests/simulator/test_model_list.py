"""The simulator's lists of models, asked for as those of every provider are."""

import pytest

from probes.config.model_sources import source_of
from probes.config.presets import presets
from probes.keys.secret import Secret
from probes.models.ask import ask
from probes.outcome import Outcome
from probes.simulator.behaviour import Behaviour
from probes.simulator.server import Simulator
from probes.tls.context import TlsContexts
from probes.wire.credentials import Credentials
from tests.samples import endpoint
from tests.servers.simulated import address

LISTED = sorted(one.name for one in presets().values() if one.models_path)


@pytest.mark.parametrize("dialect", sorted({presets()[one].dialect for one in LISTED}))
async def test_every_dialect_gets_a_list_in_its_own_shape_for_its_own_key(dialect):
    preset = next(presets()[one] for one in LISTED if presets()[one].dialect == dialect)
    async with Simulator({"b": Behaviour(key="right-key"), "a": Behaviour(key="right-key")}) as simulator:
        source = source_of(endpoint(provider=preset.name, dialect=dialect, base_url=address(simulator, dialect)))
        found = await ask(source.endpoint, source.path, Credentials(Secret("right-key")), TlsContexts())
        refused = await ask(source.endpoint, source.path, Credentials(Secret("wrong-key")), TlsContexts())
    assert [one.id for one in found.models] == ["a", "b"], found.problem
    assert (refused.outcome, refused.models) == (Outcome.AUTH, ())

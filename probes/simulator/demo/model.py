"""One simulated model of ``inftop demo`` and the endpoint that probes it, as a frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from probes.endpoint import Policy, Price
from probes.simulator.behaviour import Behaviour
from probes.simulator.distribution import Constant

OUTPUT_TOKENS: Final = 256
"""The output cap of every probe of the demo."""

LONG: Final = Constant(OUTPUT_TOKENS)


@dataclass(frozen=True, slots=True)
class DemoModel:
    """One simulated model and its endpoint, which starts from the preset ``provider`` as a configured one would.

    ``name`` is the endpoint's, ``model`` is unique among the demo models, ``interval`` is in seconds.
    """

    provider: str
    name: str
    model: str
    behaviour: Behaviour
    interval: float = 4.0
    group: str | None = None
    price: Price | None = None
    body: Mapping[str, Any] | None = None
    connection: Policy = "warm"

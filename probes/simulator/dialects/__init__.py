"""The dialects of the simulator: one module for each wire format, chosen by the path of a request and its transport.

Each has a `TONGUE`, which says at which paths it is spoken. Nothing lists them: a new one is its own file.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from probes.simulator.dialects.dialect import SimulatedDialect
from probes.simulator.request import Request

_MODULES: Final = [import_module(f"{__name__}.{one.name}") for one in iter_modules(__path__)]
TONGUES: Final[tuple[SimulatedDialect, ...]] = tuple(one.TONGUE for one in _MODULES if hasattr(one, "TONGUE"))


def tongue_of(request: Request) -> SimulatedDialect | None:
    """The tongue that is spoken where a request, an upgrade or a message goes; None where nothing is."""
    over_socket = request.upgrade or request.message
    if not over_socket and request.method != "POST":
        return None
    path = request.path.partition("?")[0]
    spoken = (one for one in TONGUES if one.over_socket is over_socket and one.path.fullmatch(path))
    return next(spoken, None)

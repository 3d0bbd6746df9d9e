"""Wire formats: a dialect by its name, loaded only when asked for.

A dialect is a module of this package with the class ``Wire``. Nothing lists them but the presets that speak them
(`probes.config.presets.dialects`), so that a new one is its own file and its presets.
"""

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:  # a screen loads no dialect
    from probes.wire.dialect import Dialect


def load_dialect(name: str) -> "Dialect":
    """The dialect of that name. Raises ImportError for a name that no module has."""
    return cast("Dialect", import_module(f"probes.wire.{name}").Wire())

"""Vantages, the places that measure, by name: which of them a question is about.

Results of other programs are kept under vantages of their own, which a recorder cannot have. They were measured in
another way, so they are part of an answer only where their vantage is asked for by name.
"""

from typing import Final

IMPORTED: Final = "import:"
"""How the vantage of another program's results begins, such as ``import:aiperf``."""

NOT_IMPORTED_SQL: Final = "endpoint_id NOT IN (SELECT id FROM endpoint WHERE substr(vantage, 1, 7) = 'import:')"
"""The condition, in SQL, of samples and rollups that were recorded by inftop."""


def is_asked_for(vantage: str, chosen: str | None) -> bool:
    """Whether a question about the vantage ``chosen`` (None: about all places that recorded) is about this one."""
    return vantage == chosen if chosen is not None else not vantage.startswith(IMPORTED)

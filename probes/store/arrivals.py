"""What a store took over from other stores and from journals, and how far it came, so that nothing is taken twice."""

import json
from collections.abc import Sequence
from typing import Any, Final

from probes import typed_json
from probes.store.connection import Connection
from probes.store.statements import replacing, run

BATCH: Final = "batch"
"""The one kind of arrival that is no other store's: that of a recorder's journal."""

COPY: Final = "copy"
"""That a store is a copy of another; its key is whether that came to its end, and the newest sample's instant then."""

MERGE: Final = "merge"
"""That a store was joined with another; its key is whether that came to its end, the newest sample's instant then, and
how far the other was pruned when it began."""

_PUT: Final = replacing("arrival", ("source", "what", "last"), ("source", "what"))


def own_name(connection: Connection) -> str:
    """The random name of the store, which tells it from every other one."""
    return str(run(connection, "SELECT name FROM identity").scalar_one())


def arrived(connection: Connection, source: str) -> dict[str, list[Any]]:
    """The kinds of rows that came from that store, each with the last key that came."""
    rows = run(connection, "SELECT what, last FROM arrival WHERE source = ?", (source,))
    return {what: typed_json.loads(last) for what, last in rows}


def sources(connection: Connection) -> set[str]:
    """The stores that something came from."""
    return {name for (name,) in run(connection, "SELECT source FROM arrival WHERE what <> ?", (BATCH,))}


def note(connection: Connection, source: str, what: str, last: Sequence[Any]) -> None:
    """Remember what came, and its last key."""
    run(connection, _PUT, {"source": source, "what": what, "last": json.dumps(list(last))})


def forget(connection: Connection, source: str, what: str) -> None:
    """Forget what came, so that it is taken again from its first key on."""
    run(connection, "DELETE FROM arrival WHERE source = ? AND what = ?", (source, what))

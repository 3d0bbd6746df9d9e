"""The upkeep of a store, one small step at a time: rolling up what is in no rollup yet, then pruning."""

from typing import Final

from sqlalchemy import Connection

from probes.store.retention import Retention
from probes.store.write.pruning import prune_some
from probes.store.write.rollup_rows import roll_up_some

ROLL_UP: Final = 2_000
"""Samples of an older inftop that are rolled up in one step, which takes well under 100 ms."""


def do_upkeep(connection: Connection, retention: Retention, now_ms: int) -> bool:
    """Do one step inside the transaction that is open; returns whether there is more to do at once.

    Nothing is pruned while samples are left that are in no rollup.
    """
    if roll_up_some(connection, ROLL_UP):
        return True
    return prune_some(connection, retention, now_ms)

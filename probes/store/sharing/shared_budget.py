"""The day's budget of a vantage that several recorders share, granted in blocks out of a PostgreSQL store.

A row of the table ``budget_grant`` says what a recorder was granted of a day, and spent. What all were granted is at
most the cap: a recorder that ended without a word keeps what it had, for nobody knows what it still sent.
"""

from collections.abc import Callable
from typing import Final

from probes.budget.blocks import NOTHING, next_block
from probes.budget.budget import Budget
from probes.budget.charge import Spent
from probes.store.sharing.session import Connection, Session

_BEFORE: Final = ""
"""The run of the row of what was spent on a day before recorders shared it; who grants a block locks that row."""

_KEPT_DAYS: Final = 7

_LOCK: Final = "SELECT 1 FROM budget_grant WHERE vantage = %s AND day = %s AND run = %s FOR UPDATE"
_BEGIN: Final = """
INSERT INTO budget_grant (vantage, day, run, granted_usd, granted_tokens, used_usd, used_tokens)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
_GRANTED: Final = """
SELECT coalesce(sum(granted_usd), 0), coalesce(sum(granted_tokens), 0)::bigint FROM budget_grant
WHERE vantage = %s AND day = %s
"""
_GRANT: Final = """
INSERT INTO budget_grant (vantage, day, run, granted_usd, granted_tokens, used_usd, used_tokens)
VALUES (%s, %s, %s, %s, %s, 0, 0) ON CONFLICT (vantage, day, run) DO UPDATE
SET granted_usd = budget_grant.granted_usd + excluded.granted_usd,
granted_tokens = budget_grant.granted_tokens + excluded.granted_tokens
"""
_TAKE_BACK: Final = """
UPDATE budget_grant SET granted_usd = greatest(0, granted_usd - %s), granted_tokens = greatest(0, granted_tokens - %s)
WHERE vantage = %s AND day = %s AND run = %s
"""
_USED: Final = "UPDATE budget_grant SET used_usd = %s, used_tokens = %s WHERE vantage = %s AND day = %s AND run = %s"
_OTHERS: Final = """
SELECT coalesce(sum(used_usd), 0), coalesce(sum(used_tokens), 0)::bigint FROM budget_grant
WHERE vantage = %s AND day = %s AND run <> %s
"""
_FORGET_ALL: Final = "DELETE FROM budget_grant WHERE vantage = %s"
_FORGET: Final = "DELETE FROM budget_grant WHERE vantage = %s AND day < %s"


class SharedBudget:
    """What the recorder ``run`` is granted of each day's budget of ``vantage``; every method waits for the store.

    They raise StoreProblem, and nothing is granted then. Days are UTC days, counted from the epoch.
    """

    def __init__(self, session: Session, vantage: str, run: str) -> None:
        self._session, self._vantage, self._run = session, vantage, run

    def take(
        self, day: int, budget: Budget, wanted: Spent, least: Spent, spent_before: Callable[[], Spent]
    ) -> Spent | None:
        """The next block of a day, about ``wanted``; None where not even ``least`` is left.

        ``spent_before`` counts what the day had cost before recorders shared it; it is asked by the first alone.
        """
        if not self._is_begun(day):
            spent = spent_before()
            with self._session.transaction() as connection:
                connection.execute(_BEGIN, (self._vantage, day, _BEFORE, *spent, *spent))
                connection.execute(_FORGET, (self._vantage, day - _KEPT_DAYS))
        with self._session.transaction() as connection:
            connection.execute(_LOCK, (self._vantage, day, _BEFORE))
            room = self._room(connection, day, budget)
            # a cap of which nothing is left ends all probes, also of those that cost nothing of it
            is_used = any(left is not None and left <= 0 for left in (room.usd_per_day, room.tokens_per_day))
            block = None if is_used else next_block(room, wanted, least)
            if block is not None:
                connection.execute(_GRANT, (self._vantage, day, self._run, *block))
        return block

    def give_back(self, day: int, unspent: Spent) -> None:
        """Give back so much of what was granted: it was not spent and will not be."""
        with self._session.transaction() as connection:
            connection.execute(_TAKE_BACK, (*unspent, self._vantage, day, self._run))

    def note_used(self, day: int, used: Spent) -> Spent:
        """Say what this recorder has spent of a day; returns what all others have, as far as they said."""
        with self._session.transaction() as connection:
            connection.execute(_USED, (*used, self._vantage, day, self._run))
            row = connection.execute(_OTHERS, (self._vantage, day, self._run)).fetchone()
        return NOTHING if row is None else Spent(*row)

    def _is_begun(self, day: int) -> bool:
        with self._session.transaction() as connection:
            return connection.execute(_LOCK, (self._vantage, day, _BEFORE)).fetchone() is not None

    def _room(self, connection: Connection, day: int, budget: Budget) -> Budget:
        """What of the caps nobody was granted; None is no cap."""
        usd, tokens = connection.execute(_GRANTED, (self._vantage, day)).fetchone() or NOTHING
        usd_cap, tokens_cap = budget.usd_per_day, budget.tokens_per_day
        return Budget(None if usd_cap is None else usd_cap - usd, None if tokens_cap is None else tokens_cap - tokens)


def forget_grants(connection: Connection, vantage: str) -> None:
    """Have what days have cost counted anew: a single recorder had the vantage, whose spending is in no grant."""
    connection.execute(_FORGET_ALL, (vantage,))

"""The lease of a store: which recorder may record, as rows of the store, one per tenure, under a growing token.

The holder renews its row with every beat. A recorder that finds the holder dead, or the row not renewed for `TTL_S`,
begins the next tenure, and that ends the one before. Instants are of the database's clock, in milliseconds since the
epoch.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Connection

from probes.store.holder import Holder, StoreHeld
from probes.store.location import is_postgres
from probes.store.read.source import RowSource
from probes.store.statements import inserting, run
from probes.store.write.recorder_lock import holder_of

TTL_S: Final = 10.0
"""How long a lease lasts unless it is renewed, which its holder does with every beat (`engine.BEAT_S`)."""

KEPT_MS: Final = 90 * 86_400_000
"""How long an ended tenure is remembered: what its recorder still has on disk is judged by it."""

_NOW: Final = {
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
    "sqlite": "CAST(round((julianday('now') - 2440587.5) * 86400000) AS BIGINT)",  # the Julian day of 1970-01-01
}
_TENURES: Final = "SELECT token, run, holder, since, until, locked FROM lease WHERE scope = ? ORDER BY token DESC"
_NEWEST: Final = f"{_TENURES} LIMIT 1"
_BEGIN: Final = inserting("lease", ("scope", "token", "run", "holder", "since", "until", "locked"))
_RENEW: Final = "UPDATE lease SET until = ?, locked = ? WHERE scope = ? AND token = ?"
_PRUNE: Final = "DELETE FROM lease WHERE scope = ? AND token < ? AND until < ?"


@dataclass(frozen=True, slots=True)
class Tenure:
    """``run`` held the lease under ``token`` from ``since``; it lasts ``until`` then unless it is renewed.

    ``holder`` is None where it cannot be read. A ``locked`` one has the lock of the operating system too: if
    that is free, the holder is dead.
    """

    token: int
    run: str
    holder: Holder | None
    since: int
    until: int
    locked: bool

    @property
    def renewed_at(self) -> int:
        """When it was renewed last."""
        return self.until - ttl_ms()


@dataclass(slots=True)
class Claim:
    """A recorder's claim to the lease of ``scope``; ``run`` is a random name that no other recorder ever had.

    ``locked``: it has the lock of the operating system now. ``over``: the tenure that it saw not renewed for `TTL_S`.
    """

    scope: str
    run: str
    holder: Holder
    locked: bool
    over: Tenure | None = None

    def follows(self, newest: Tenure | None) -> bool:
        """Whether it may begin the tenure after the newest one; None: there was none yet."""
        return newest is None or (self.locked and newest.locked) or newest == self.over


class Lease:
    """A recorder's lease, read and written within the transactions that store its samples."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim

    @property
    def run(self) -> str:
        """The name of all that its recorder measures."""
        return self._claim.run

    def hold(self, connection: Connection, *, renew: bool) -> StoreHeld | None:
        """Take the lease if it was never ours and may be; renew it if it is ours and ``renew``.

        Returns None if it is ours now, else who took it over from us: what we measured before may still be stored.
        Raises StoreHeld if another has it and it was never ours: nothing may be stored then.
        """
        claim = self._claim
        newest = next(iter(_read(connection, _NEWEST, claim.scope)), None)
        if newest is not None and newest.run == claim.run:
            if renew:
                until = _now(connection) + ttl_ms()
                run(connection, _RENEW, (until, claim.locked, claim.scope, newest.token))
            return None
        held = StoreHeld(newest.holder if newest else None)
        if any(one.run == claim.run for one in _read(connection, _TENURES, claim.scope)):
            return held
        if not claim.follows(newest):
            raise held
        self._begin(connection, newest)
        return None

    def _begin(self, connection: Connection, last: Tenure | None) -> None:
        """Begin the next tenure. Its beginning is never before the last sign of life of the one before."""
        claim, now = self._claim, _now(connection)
        values = {
            "scope": claim.scope,
            "token": last.token + 1 if last else 1,
            "run": claim.run,
            "holder": json.dumps(asdict(claim.holder)),
            "since": max(now, last.renewed_at) if last else now,
            "until": now + ttl_ms(),
            "locked": claim.locked,
        }
        run(connection, _BEGIN, values)
        run(connection, _PRUNE, (claim.scope, values["token"], now - KEPT_MS))

    def counted(self, connection: Connection, by: str, began: Sequence[int]) -> list[bool]:
        """Whether each of the samples counts that the run ``by`` ``began`` then (ms since the epoch, our clock)."""
        tenures = _read(connection, _TENURES, self._claim.scope)
        ahead = _now(connection) - time.time_ns() // 1_000_000  # what the database's clock is before ours
        return [counts(tenures, by, one + ahead) for one in began]


def counts(tenures: Iterable[Tenure], by: str, began: int) -> bool:
    """Whether a sample counts that the run ``by`` ``began`` to measure then (ms since the epoch, database's clock).

    It does if it began before the tenure that followed that run's. A run that could not reach the store never had a
    tenure: of its samples those do not count that began while another run held the lease and renewed it.
    """
    ordered = sorted(tenures, key=lambda one: one.token)
    own = [one.token for one in ordered if one.run == by]
    if not own:
        return not any(one.since <= began <= one.renewed_at for one in ordered)
    return all(began < one.since for one in ordered if one.token > own[-1])


class Heartbeat:
    """Tells whether a tenure is still renewed, by this process's monotonic clock: a wall clock may be set at any time.

    ``clock`` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: Tenure | None = None
        self._first = self._last = 0.0

    def stopped(self, tenure: Tenure | None) -> bool:
        """Take the newest tenure as it was just read (None: it could not be); whether it was the same for `TTL_S`.

        After more than half of `TTL_S` without a call the count begins anew: we may have been stopped ourselves.
        """
        now = self._clock()
        if tenure is None or tenure != self._seen or now - self._last > TTL_S / 2:
            self._seen, self._first = tenure, now
        self._last = now
        return tenure is not None and now - self._first >= TTL_S


@dataclass(frozen=True, slots=True)
class LeaseView:
    """The tenures of a scope, newest first, as read by one who wants to record; ``now`` is the database's clock."""

    tenures: tuple[Tenure, ...]
    now: int

    @property
    def newest(self) -> Tenure | None:
        """The tenure that no other has ended; None where there was none yet."""
        return self.tenures[0] if self.tenures else None

    @property
    def fresh(self) -> bool:
        """Whether the newest was renewed lately, as far as the clock can be trusted."""
        return self.newest is not None and self.now < self.newest.until <= self.now + ttl_ms()

    def knows(self, holder: Holder | None) -> bool:
        """Whether that one ever had the lease. Its host is not compared: a server cuts a long name short."""
        return holder is not None and any(
            one.holder is not None and (one.holder.pid, one.holder.since) == (holder.pid, holder.since)
            for one in self.tenures
        )


def look(source: RowSource, url: str, scope: str) -> LeaseView:
    """What a reader of the store at ``url`` finds. Raises StoreProblem."""
    ((now,),) = source.few(f"SELECT {_NOW['postgresql' if is_postgres(url) else 'sqlite']}", ()) or ((0,),)
    rows = source.few(_TENURES, (scope,)) if source.has("lease") else ()
    return LeaseView(tuple(map(_tenure, rows)), now)


def scope_of(url: str, vantage: str) -> str:
    """What a recorder needs the lease of: its vantage in a database that places share, else all of the file."""
    return f"vantage/{vantage}" if is_postgres(url) else "store"


def ttl_ms() -> int:
    """`TTL_S` in milliseconds."""
    return round(1000 * TTL_S)


def _read(connection: Connection, sql: str, scope: str) -> list[Tenure]:
    return [_tenure(row) for row in run(connection, sql, (scope,))]


def _tenure(row: Sequence[Any]) -> Tenure:
    token, by, holder, since, until, locked = row
    return Tenure(token, by, holder_of(holder), since, until, bool(locked))


def _now(connection: Connection) -> int:
    return int(run(connection, f"SELECT {_NOW[connection.dialect.name]}").scalar_one())

"""The leases of endpoints at a vantage that several recorders share, as rows of a PostgreSQL store.

A recorder says in the table ``sharer`` that it lives, and holds each endpoint that it measures by a lease of its own,
in the table ``lease`` under the scope of `endpoint_scope`. With every beat it renews all of them in one statement, lets
go what is another's to measure, and takes what is its own and free. Instants are of the database's clock, in
milliseconds since the epoch; how long a recorder may go on by itself it knows by a clock that nobody can set.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

from probes import typed_json
from probes.clock import elapsed_ns
from probes.store.holder import Holder, StoreHeld
from probes.store.sharing.allocation import Sharer, allocate
from probes.store.sharing.session import Connection, Session
from probes.store.sharing.shared_budget import forget_grants
from probes.store.write import lease
from probes.store.write.lease import SHARED, endpoint_scope, scope_of
from probes.store.write.recorder_lock import holder_of

SETTLED_TTLS: Final = 1.0
"""So many times `lease.TTL_S` a recorder lives before others let go of what they measure for it."""

_NOW: Final = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
_LIVE_ON: Final = """
UPDATE sharer SET until = %(until)s, since = CASE WHEN until < %(now)s THEN %(now)s ELSE since END
WHERE vantage = %(vantage)s AND run = %(run)s
"""
_LIVE: Final = """
INSERT INTO sharer (vantage, run, holder, since, until, endpoints)
VALUES (%(vantage)s, %(run)s, %(holder)s, %(now)s, %(until)s, %(endpoints)s)
ON CONFLICT (vantage, run) DO UPDATE SET until = excluded.until, endpoints = excluded.endpoints
"""
_FORGET_DEAD: Final = "DELETE FROM sharer WHERE vantage = %s AND NOT until BETWEEN %s AND %s"
_FORGET_STATUS: Final = """
DELETE FROM recorder WHERE vantage = %(vantage)s
AND NOT EXISTS (SELECT 1 FROM sharer WHERE sharer.vantage = recorder.vantage AND sharer.run = recorder.run)
"""
_RENEW: Final = """
UPDATE lease SET until = %(until)s WHERE scope = ANY(%(scopes)s) AND run = %(run)s
AND NOT EXISTS (SELECT 1 FROM lease AS later WHERE later.scope = lease.scope AND later.token > lease.token)
"""
_SHARERS: Final = "SELECT run, holder, since, until, endpoints FROM sharer WHERE vantage = %s ORDER BY since, run"
_NEWEST: Final = """
SELECT DISTINCT ON (scope) scope, token, run, until FROM lease WHERE scope = ANY(%s) ORDER BY scope, token DESC
"""
_LET_GO: Final = """
INSERT INTO lease (scope, token, run, holder, since, until, locked)
SELECT scope, token + 1, '', 'null', %(now)s, %(now)s, FALSE FROM unnest(%(scopes)s::text[], %(tokens)s::bigint[])
AS held (scope, token) ORDER BY scope ON CONFLICT DO NOTHING
"""
_TAKE: Final = """
WITH free AS (
    SELECT lease.scope, lease.token, lease.until FROM lease
    JOIN unnest(%(scopes)s::text[], %(tokens)s::bigint[]) AS seen (scope, token) USING (scope, token)
    WHERE NOT until BETWEEN %(now)s + 1 AND %(latest)s ORDER BY lease.scope FOR UPDATE OF lease SKIP LOCKED
)
INSERT INTO lease (scope, token, run, holder, since, until, locked)
SELECT scope, token + 1, %(run)s, %(holder)s, greatest(%(now)s, least(until, %(until)s) - %(ttl)s), %(until)s, FALSE
FROM free ORDER BY scope ON CONFLICT DO NOTHING RETURNING scope, token
"""
_TAKE_FIRST: Final = """
INSERT INTO lease (scope, token, run, holder, since, until, locked)
SELECT scope, 1, %(run)s, %(holder)s, %(now)s, %(until)s, FALSE FROM unnest(%(scopes)s::text[]) AS new (scope)
ORDER BY scope ON CONFLICT DO NOTHING RETURNING scope, token
"""
_PRUNE: Final = """
DELETE FROM lease WHERE scope = ANY(%(scopes)s) AND until < %(before)s
AND EXISTS (SELECT 1 FROM lease AS later WHERE later.scope = lease.scope AND later.token > lease.token)
"""
_OF_VANTAGE: Final = "SELECT token, run, holder, until FROM lease WHERE scope = %s ORDER BY token DESC LIMIT 1"
_END_SINGLE: Final = """
INSERT INTO lease (scope, token, run, holder, since, until, locked)
VALUES (%s, %s, %s, 'null', greatest(%s, %s), %s, TRUE) ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Beat:
    """What a beat found: the endpoints that are ours to measure, with their tokens, and those of them to ``let_go``.

    They are ours until ``deadline`` (`probes.clock.elapsed_ns`) at most, unless the next beat says so again. ``moves``:
    some are on their way, to us or away. ``others`` are the hosts of the other live recorders; ``differs`` has, by
    endpoint, the hosts whose configurations mean something else by its name.
    """

    held: Mapping[str, int]
    let_go: frozenset[str]
    deadline: int
    moves: bool = False
    others: tuple[str, ...] = ()
    differs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class SharedLeases:
    """The leases that the recorder ``run`` has at ``vantage``. Every method waits for the store: use them in a thread.

    They raise StoreProblem, and StoreHeld where a recorder that shares with nobody has the vantage.
    """

    def __init__(self, session: Session, vantage: str, run: str, me: Holder) -> None:
        self._session, self._vantage, self._run = session, vantage, run
        self._holder = json.dumps(asdict(me))
        self._beats = Steadiness()
        self._pruned_at = 0
        self._said: dict[str, str] = {}

    def beat(self, wanted: Mapping[str, str], idle: Collection[str] = ()) -> Beat:
        """Renew what is ours, let go those of ``idle`` that are another's to measure, take what is ours and free.

        ``wanted`` are the endpoints of the configuration, each with a digest of what is asked of it.
        """
        began = elapsed_ns()
        with self._session.transaction() as connection:
            self._end_single_recorder(connection)
            now = _now(connection)
            self._live(connection, now, wanted)
            may_follow = self._beats.note(began, now)
            sharers, digests = self._sharers(connection, now)
            newest = self._newest(connection, wanted, now)
            target = allocate(sharers, {name: one.run for name, one in newest.items() if one.is_held})
            mine = {name: one.token for name, one in newest.items() if one.is_held and one.run == self._run}
            away = {name for name in mine if target[name] != self._run}
            gone = sorted(away.intersection(idle))
            if gone:
                values = {
                    "now": now,
                    "scopes": [self._scope(one) for one in gone],
                    "tokens": [mine[one] for one in gone],
                }
                connection.execute(_LET_GO, values)
            free = [name for name, run in target.items() if run == self._run and name not in mine]
            taken = self._take(connection, now, {one: newest.get(one) for one in free}, may_follow=may_follow)
            self._prune(connection, now, wanted)
        self._said = dict(wanted)  # only now: what was rolled back nobody knows
        held = {name: token for name, token in mine.items() if name not in gone} | taken
        others = {run: host for run, (host, _) in digests.items() if run != self._run}
        differs = {
            name: hosts
            for name, digest in wanted.items()
            if (hosts := _differing(name, digest, [digests[run] for run in others]))
        }
        deadline = began + round(1e9 * lease.TTL_S)
        let_go = frozenset(away.difference(gone))
        moves = bool(away) or any(run == self._run and name not in held for name, run in target.items())
        return Beat(held, let_go, deadline, moves, tuple(others.values()), differs)

    def release(self, names: Collection[str]) -> None:
        """Let all of these go, and be a live recorder no more: others take them at their next beat."""
        with self._session.transaction() as connection:
            now = _now(connection)
            mine = {
                name: one.token for name, one in self._newest(connection, names, now).items() if one.run == self._run
            }
            self._let_go(connection, now, mine)
            for table in ("sharer", "recorder"):
                where = f"DELETE FROM {table} WHERE vantage = %s AND run = %s"  # noqa: S608
                connection.execute(where, (self._vantage, self._run))

    def _end_single_recorder(self, connection: Connection) -> None:
        """Begin to share the vantage where a single recorder had it. Raises StoreHeld where that is alive."""
        scope, now = scope_of(self._session.url, self._vantage), _now(connection)
        row = connection.execute(_OF_VANTAGE, (scope,)).fetchone()
        token, run, holder, until = row or (0, "", "null", 0)
        if not self._session.lock_vantage(connection, self._vantage) and _lasts(until, now):
            raise StoreHeld(holder_of(holder))
        if run != SHARED:
            values = (scope, token + 1, SHARED, now, until - lease.ttl_ms(), now)
            if connection.execute(_END_SINGLE, values).rowcount:
                forget_grants(connection, self._vantage)

    def _live(self, connection: Connection, now: int, wanted: Mapping[str, str]) -> None:
        """Say that we live, and renew all that is ours; what others left of themselves long ago goes."""
        until = now + lease.ttl_ms()
        values = {"vantage": self._vantage, "run": self._run, "holder": self._holder, "now": now, "until": until}
        if not connection.execute(_LIVE_ON, values).rowcount or self._said != wanted:
            connection.execute(_LIVE, values | {"endpoints": json.dumps(wanted)})
        connection.execute(_RENEW, values | {"scopes": [self._scope(one) for one in sorted(wanted)]})
        connection.execute(_FORGET_DEAD, (self._vantage, now - lease.ttl_ms(), _latest(now)))
        connection.execute(_FORGET_STATUS, values)

    def _sharers(self, connection: Connection, now: int) -> tuple[list[Sharer], dict[str, tuple[str, dict[str, str]]]]:
        """The live recorders, those that began first before others, and of each its host and its digests."""
        found, digests = [], {}
        for run, holder, since, until, endpoints in connection.execute(_SHARERS, (self._vantage,)).fetchall():
            if _lasts(until, now):
                asked = typed_json.loads(endpoints)
                settled = now - since >= SETTLED_TTLS * lease.ttl_ms()
                found.append(Sharer(run, frozenset(asked), settled))
                who = holder_of(holder)
                digests[run] = ("" if who is None else who.host, asked)
        return found, digests

    def _newest(self, connection: Connection, names: Collection[str], now: int) -> dict[str, "_Newest"]:
        """The newest tenure of each of these endpoints that ever had one."""
        names_by_scope = {self._scope(name): name for name in names}
        rows = connection.execute(_NEWEST, (list(names_by_scope),)).fetchall()
        return {
            names_by_scope[scope]: _Newest(token, run, is_held=_lasts(until, now)) for scope, token, run, until in rows
        }

    def _take(
        self, connection: Connection, now: int, free: Mapping[str, "_Newest | None"], *, may_follow: bool
    ) -> dict[str, int]:
        """Begin the next tenure of each of these that is still free; returns the tokens of those that are ours now.

        One whose holder did not let it go is only taken where we ``may_follow``.
        """
        values = {
            "run": self._run,
            "holder": self._holder,
            "now": now,
            "until": now + lease.ttl_ms(),
            "latest": _latest(now),
            "ttl": lease.ttl_ms(),
        }
        names = {self._scope(name): name for name in free}
        known = {self._scope(name): one.token for name, one in free.items() if one and (may_follow or not one.run)}
        rows = connection.execute(_TAKE, values | {"scopes": list(known), "tokens": list(known.values())}).fetchall()
        new = [self._scope(name) for name, one in free.items() if one is None]
        rows += connection.execute(_TAKE_FIRST, values | {"scopes": new}).fetchall()
        return {names[scope]: token for scope, token in rows}

    def _let_go(self, connection: Connection, now: int, held: Mapping[str, int]) -> None:
        """Begin, after tenures of ours, one of nobody."""
        scopes = [self._scope(one) for one in held]
        connection.execute(_LET_GO, {"now": now, "scopes": scopes, "tokens": list(held.values())})

    def _prune(self, connection: Connection, now: int, wanted: Collection[str]) -> None:
        """Once a day, forget tenures that ended long ago."""
        if wanted and now - self._pruned_at > lease.KEPT_MS / 90:
            self._pruned_at = now
            values = {"scopes": [self._scope(one) for one in wanted], "before": now - lease.KEPT_MS}
            connection.execute(_PRUNE, values)

    def _scope(self, name: str) -> str:
        return endpoint_scope(self._vantage, name)


@dataclass(frozen=True, slots=True)
class _Newest:
    """The newest tenure of an endpoint; its ``run`` is '' where it was let go."""

    token: int
    run: str
    is_held: bool


class Steadiness:
    """Whether we have watched the store without a break, as who says that another's lease is over must have.

    After a break (we were stopped, the store was away, or its clock was set) those that live have as long as a lease
    lasts to renew what is theirs.
    """

    def __init__(self) -> None:
        self._last: tuple[int, int] | None = None
        self._broken_at: int | None = None

    def note(self, elapsed: int, now: int) -> bool:
        """Note a beat (ns of our clock, ms of the database's); whether leases that are over may be followed now."""
        if self._last is not None:
            passed_ms, theirs = (elapsed - self._last[0]) / 1e6, now - self._last[1]
            if passed_ms > lease.ttl_ms() / 2 or abs(theirs - passed_ms) > lease.ttl_ms() / 2:
                self._broken_at = elapsed
        self._last = elapsed, now
        return self._broken_at is None or elapsed - self._broken_at > 1e9 * lease.TTL_S


def _differing(name: str, digest: str, others: Collection[tuple[str, Mapping[str, str]]]) -> tuple[str, ...]:
    """The hosts of those others that have an endpoint of that name which is not the same."""
    return tuple(sorted({host for host, asked in others if asked.get(name, digest) != digest}))


def _lasts(until: int, now: int) -> bool:
    """Whether what lasts ``until`` then, unless it is renewed, is not over.

    An end that is further off than anybody can have set it was set before the clock was set back.
    """
    return now < until <= _latest(now)


def _latest(now: int) -> int:
    """The latest end that another can have set, who read the clock after us."""
    return now + 2 * lease.ttl_ms()


def _now(connection: Connection) -> int:
    ((now,),) = connection.execute(f"SELECT {_NOW}".encode()).fetchall()
    return int(now)

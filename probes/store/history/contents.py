"""What a store holds, how much room that takes, and how far back it goes."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from probes.stats.rollup import TIERS
from probes.store.problem import StoreProblem
from probes.store.read.snapshot import Snapshot

# each by itself: the ends are at the ends of an index
_SAMPLES: Final = """
SELECT (SELECT count(*) FROM sample), (SELECT min(started_at) FROM sample), (SELECT max(started_at) FROM sample)
"""


@dataclass(frozen=True, slots=True)
class ContentPart:
    """One kind of what a store holds: how many rows, and from when to when; milliseconds since the epoch."""

    name: str
    rows: int
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class StoreContents:
    """What a store holds. ``whole_since`` is from when on no sample was pruned, None where none ever was.

    ``bytes_free`` of ``bytes`` are empty pages that SQLite will fill again, None of PostgreSQL; ``tables`` are the
    bytes of each table with its indexes, none where the database cannot tell.
    """

    version: str
    name: str | None
    endpoints: int
    vantages: tuple[str, ...]
    parts: tuple[ContentPart, ...]
    races: int
    whole_since: int | None
    bytes: int
    bytes_free: int | None
    tables: dict[str, int]


NOTHING: Final = StoreContents(
    version="",
    name=None,
    endpoints=0,
    vantages=(),
    parts=tuple(ContentPart(name, 0, None, None) for name in ("samples", *TIERS)),
    races=0,
    whole_since=None,
    bytes=0,
    bytes_free=None,
    tables={},
)
"""What there is before anything was recorded."""


def contents(url: str) -> StoreContents:
    """What the store at ``url`` holds, of this version or an older one. Raises StoreProblem."""
    with Snapshot(url) as store:
        current = store.is_current
        samples = ContentPart("samples", *store.one(_SAMPLES))
        sql = "SELECT tier, count(*), min(start), max(start) FROM rollup GROUP BY tier"
        tiers = {row[0]: ContentPart(*row) for row in store.rows(sql)} if current else {}
        pruned = list(store.rows("SELECT until FROM pruned WHERE what = 'raw'")) if current else []
        total, free = room(store)
        return StoreContents(
            version=store.revision or "",
            name=store.one("SELECT name FROM identity")[0] if current else None,
            endpoints=store.one("SELECT count(*) FROM endpoint")[0],
            vantages=tuple(row[0] for row in store.rows("SELECT DISTINCT vantage FROM endpoint ORDER BY 1")),
            parts=(samples, *(tiers.get(tier, ContentPart(tier, 0, None, None)) for tier in TIERS)),
            races=store.one("SELECT count(*) FROM race")[0] if current else 0,
            whole_since=pruned[0][0] if pruned else None,
            bytes=total,
            bytes_free=free,
            tables=_tables(store),
        )


def room(store: Snapshot) -> tuple[int, int | None]:
    """How much room a store takes, and how much of it is empty."""
    if not store.of_sqlite:
        return int(store.one("SELECT pg_database_size(current_database())")[0]), None
    pages, size, free = (store.one(f"PRAGMA {name}")[0] for name in ("page_count", "page_size", "freelist_count"))
    return pages * size, free * size


def _tables(store: Snapshot) -> dict[str, int]:
    """The bytes of each table with its indexes, the largest first."""
    found: dict[str, int] = {}
    if store.of_sqlite:
        with suppress(StoreProblem):  # an SQLite that was built without this table
            found = dict(
                store.rows(
                    "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) "
                    "WHERE aggregate = TRUE GROUP BY tbl_name"
                )
            )
    else:
        found = dict(
            store.rows(
                "SELECT relname, pg_total_relation_size(oid)::bigint FROM pg_class "
                "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            )
        )
    return dict(sorted(found.items(), key=lambda one: -one[1]))

"""Statements: SQL text made once from the tables, for the writer's hot path."""

from typing import Final

from sqlalchemy import ClauseElement, Table, insert
from sqlalchemy.dialects import sqlite

from probes.store.row import SAMPLE_COLUMNS
from probes.store.tables import ANSWER, RECORDER, ROLLUP, SAMPLE, SKETCH


def _in_sql(statement: ClauseElement) -> str:
    return str(statement.compile(dialect=sqlite.dialect(paramstyle="named")))


def _replacing(table: Table) -> str:
    """Put rows in the place of those with the same primary key."""
    return _in_sql(insert(table).prefix_with("OR REPLACE"))


# Core would build them again at each commit, taking several times as long as SQLite itself, and the interpreter's lock
INSERT_SAMPLE: Final = _in_sql(insert(SAMPLE).values(dict.fromkeys(("endpoint_id", *SAMPLE_COLUMNS))))
REPLACE_ANSWER: Final = _replacing(ANSWER)
REPLACE_RECORDER: Final = _replacing(RECORDER)
REPLACE_ROLLUP: Final = _replacing(ROLLUP)
REPLACE_SKETCH: Final = _replacing(SKETCH)

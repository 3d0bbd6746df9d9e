"""Rollups by minute, hour, day and month; the recorder rolls up, bit by bit, the samples that are there already."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from probes.store.migrations.spelling import spelled

revision = "0008"
down_revision = "0007"

# Spelled out and never edited again: a migration is what a version did, not what the tables say today.
VIEW = """
CREATE VIEW samples_by_{tier} AS SELECT
    strftime('%Y-%m-%dT%H:%M:%SZ', rollup.start / 1000, 'unixepoch') AS start,
    endpoint.vantage, endpoint.name AS endpoint, endpoint.provider, endpoint.dialect, endpoint.model,
    rollup.connection, rollup.samples, rollup.ok, rollup.failed, rollup.rate_limited, rollup.never_sent,
    rollup.untrusted, rollup.outcomes, rollup.cost_usd, rollup.input_tokens, rollup.output_tokens,
    rollup.ttft_ms_min, rollup.ttft_ms_max, rollup.ttfa_ms_min, rollup.ttfa_ms_max, rollup.e2e_ms_min,
    rollup.e2e_ms_max, rollup.tokens_per_s_min, rollup.tokens_per_s_max, rollup.gap_max_ms_min,
    rollup.gap_max_ms_max, rollup.headroom_min, rollup.headroom_max
FROM rollup JOIN endpoint ON endpoint.id = rollup.endpoint_id WHERE rollup.tier = '{tier}'
"""


def upgrade() -> None:
    """From 0007; no row is rewritten."""
    op.create_table(
        "rollup",
        *_spot(),
        *(sa.Column(name, sa.Integer, nullable=False) for name in COUNTS),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("cost_usd", sa.Float, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("outcomes", sa.Text, nullable=False),
        *(sa.Column(f"{name}_{end}", sa.Float) for name in (*METRICS, "headroom") for end in ("min", "max")),
        sqlite_with_rowid=False,
    )
    op.create_table("sketch", *_spot(), *(sa.Column(name, sa.LargeBinary) for name in METRICS), sqlite_with_rowid=False)
    op.create_table(
        "unrolled",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("next_id", sa.Integer, nullable=False),
        sa.Column("last_id", sa.Integer, nullable=False),
    )
    op.execute(
        "INSERT INTO unrolled (id, next_id, last_id) SELECT 1, min(id), max(id) FROM sample HAVING max(id) IS NOT NULL"
    )
    for tier in ("minute", "hour", "day"):
        op.execute(spelled(VIEW.format(tier=tier)))


COUNTS = ("samples", "ok", "failed", "rate_limited", "never_sent", "untrusted")
METRICS = ("ttft_ms", "tokens_per_s", "ttfa_ms", "e2e_ms", "gap_max_ms")


def _spot() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("tier", sa.String, primary_key=True),
        sa.Column("endpoint_id", sa.Integer, sa.ForeignKey("endpoint.id"), primary_key=True),
        sa.Column("connection", sa.String, primary_key=True),
        sa.Column("start", sa.BigInteger, primary_key=True),
    )

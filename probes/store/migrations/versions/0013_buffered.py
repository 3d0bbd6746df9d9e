"""How many samples of a rollup something on the way held back: last column, in table and views."""

import sqlalchemy as sa
from alembic import op

from probes.store.migrations.spelling import spelled

revision = "0013"
down_revision = "0012"

# Spelled out and never edited again: a migration is what a version did, not what the tables say today.
VIEW = """
CREATE VIEW samples_by_{tier} AS SELECT
    strftime('%Y-%m-%dT%H:%M:%SZ', rollup.start / 1000, 'unixepoch') AS start,
    endpoint.vantage, endpoint.name AS endpoint, endpoint.provider, endpoint.dialect, endpoint.model,
    rollup.connection, rollup.samples, rollup.ok, rollup.failed, rollup.rate_limited, rollup.never_sent,
    rollup.untrusted, rollup.outcomes, rollup.cost_usd, rollup.input_tokens, rollup.output_tokens,
    rollup.ttft_ms_min, rollup.ttft_ms_max, rollup.ttfa_ms_min, rollup.ttfa_ms_max, rollup.e2e_ms_min,
    rollup.e2e_ms_max, rollup.tokens_per_s_min, rollup.tokens_per_s_max, rollup.gap_max_ms_min,
    rollup.gap_max_ms_max, rollup.headroom_min, rollup.headroom_max,
    rollup.buffered
FROM rollup JOIN endpoint ON endpoint.id = rollup.endpoint_id WHERE rollup.tier = '{tier}'
"""


def upgrade() -> None:
    """From 0012; no row is rewritten: no older sample is known to have been held back."""
    for tier in ("minute", "hour", "day"):
        op.execute(f"DROP VIEW samples_by_{tier}")
    op.add_column("rollup", sa.Column("buffered", sa.Integer, nullable=False, server_default="0"))
    for tier in ("minute", "hour", "day"):
        op.execute(spelled(VIEW.format(tier=tier)))

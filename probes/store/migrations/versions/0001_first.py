"""The first schema: endpoint, sample, answer, recorder, and the view samples."""

import sqlalchemy as sa
from alembic import op

from probes.store.migrations.spelling import spelled

revision = "0001"
down_revision = None

# Spelled out and never edited again: a migration is what a version did, not what the tables say today.
SAMPLES = """
CREATE VIEW samples AS SELECT
    strftime('%Y-%m-%dT%H:%M:%f', sample.started_at / 1000.0, 'unixepoch') || 'Z' AS started_at,
    endpoint.vantage, endpoint.name AS endpoint, endpoint.provider, endpoint.dialect, endpoint.model,
    sample.outcome, sample.outcome_detail, sample.http_status, sample.connection, sample.due_lag_ms,
    sample.dns_ms, sample.connect_ms, sample.tls_ms, sample.ttfb_ms, sample.ttft_ms, sample.ttfa_ms,
    sample.e2e_ms, sample.input_tokens, sample.cached_tokens, sample.output_tokens,
    sample.reasoning_tokens, sample.token_source, sample.output_chars, sample.tokens_per_s,
    sample.e2e_tokens_per_s, sample.tpot_ms, sample.chunks, sample.gap_p50_ms, sample.gap_p95_ms,
    sample.gap_max_ms, sample.server_queue_ms, sample.server_prefill_ms, sample.server_decode_ms,
    sample.server_tokens_per_s, sample.requests_limit, sample.requests_remaining,
    sample.requests_reset_s, sample.tokens_limit, sample.tokens_remaining, sample.tokens_reset_s,
    sample.retry_after_s, sample.served_model, sample.served_tier, sample.served_by, sample.request_id,
    sample.finish_reason, sample.expect_ok, sample.cost_usd, sample.clock, sample.loop_lag_ms,
    sample.prompt_version
FROM sample JOIN endpoint ON endpoint.id = sample.endpoint_id
"""


def upgrade() -> None:
    """From an empty database."""
    op.create_table(
        "endpoint",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("vantage", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("provider", sa.String, nullable=False),
        sa.Column("dialect", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.UniqueConstraint("vantage", "name", "provider", "dialect", "model", name="endpoint_identity"),
    )
    create_sample()
    op.create_table(
        "answer",
        sa.Column("endpoint_id", sa.Integer, sa.ForeignKey("endpoint.id"), primary_key=True),
        sa.Column("sample_id", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "recorder",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("beat_at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
    )
    op.execute(spelled(SAMPLES))


def create_sample() -> None:
    """The table of samples and its indexes."""
    op.create_table(
        "sample",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("endpoint_id", sa.Integer, sa.ForeignKey("endpoint.id"), nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("outcome_detail", sa.String),
        sa.Column("http_status", sa.Integer),
        sa.Column("connection", sa.String),
        sa.Column("due_lag_ms", sa.Float),
        sa.Column("dns_ms", sa.Float),
        sa.Column("connect_ms", sa.Float),
        sa.Column("tls_ms", sa.Float),
        sa.Column("ttfb_ms", sa.Float),
        sa.Column("ttft_ms", sa.Float),
        sa.Column("ttfa_ms", sa.Float),
        sa.Column("e2e_ms", sa.Float),
        sa.Column("input_tokens", sa.Integer),
        sa.Column("cached_tokens", sa.Integer),
        sa.Column("output_tokens", sa.Integer),
        sa.Column("reasoning_tokens", sa.Integer),
        sa.Column("token_source", sa.String),
        sa.Column("output_chars", sa.Integer),
        sa.Column("tokens_per_s", sa.Float),
        sa.Column("e2e_tokens_per_s", sa.Float),
        sa.Column("tpot_ms", sa.Float),
        sa.Column("chunks", sa.Integer),
        sa.Column("gap_p50_ms", sa.Float),
        sa.Column("gap_p95_ms", sa.Float),
        sa.Column("gap_max_ms", sa.Float),
        sa.Column("server_queue_ms", sa.Float),
        sa.Column("server_prefill_ms", sa.Float),
        sa.Column("server_decode_ms", sa.Float),
        sa.Column("server_tokens_per_s", sa.Float),
        sa.Column("requests_limit", sa.Float),
        sa.Column("requests_remaining", sa.Float),
        sa.Column("requests_reset_s", sa.Float),
        sa.Column("tokens_limit", sa.Float),
        sa.Column("tokens_remaining", sa.Float),
        sa.Column("tokens_reset_s", sa.Float),
        sa.Column("retry_after_s", sa.Float),
        sa.Column("served_model", sa.String),
        sa.Column("served_tier", sa.String),
        sa.Column("served_by", sa.String),
        sa.Column("request_id", sa.String),
        sa.Column("finish_reason", sa.String),
        sa.Column("expect_ok", sa.Boolean),
        sa.Column("cost_usd", sa.Float),
        sa.Column("clock", sa.String),
        sa.Column("loop_lag_ms", sa.Float),
        sa.Column("prompt_version", sa.String),
    )
    op.create_index("sample_by_endpoint", "sample", ["endpoint_id", "started_at"])
    op.create_index("sample_by_time", "sample", ["started_at"])
    op.create_index(
        "sample_failed",
        "sample",
        ["endpoint_id", "started_at"],
        sqlite_where=sa.text("outcome NOT IN ('ok', 'no_key', 'skipped')"),
        postgresql_where=sa.text("outcome NOT IN ('ok', 'no_key', 'skipped')"),
    )

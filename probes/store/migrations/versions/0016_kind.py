"""What a sample was made for, where not on schedule: last column, in table and view."""

import sqlalchemy as sa
from alembic import op

from probes.store.migrations.spelling import spelled

revision = "0016"
down_revision = "0015"

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
    sample.prompt_version, sample.server_load_ms, sample.upgrade_ms, sample.served_fingerprint,
    sample.limit_buckets, sample.limited_by, sample.over_limit, sample.gc_pause_ms,
    sample.clock_step_ms, sample.cpu_steal_ms, sample.error_bound_ms, sample.shared_stamps, sample.trusted,
    sample.round_trip_ms, sample.sample_id, sample.reopened, sample.buffered, sample.speed_basis,
    sample.setup_error_bound_ms, sample.setup_trusted, sample.proxy_ms, sample.provider_cost_usd,
    sample.kind
FROM sample JOIN endpoint ON endpoint.id = sample.endpoint_id
"""


def upgrade() -> None:
    """From 0015; no row is rewritten: all older samples were made on schedule."""
    op.execute("DROP VIEW samples")
    op.add_column("sample", sa.Column("kind", sa.String))
    op.execute(spelled(SAMPLES))

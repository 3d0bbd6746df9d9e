"""Samples in PostgreSQL are partitioned by time; SQLite's table stays as it is.

The table that was there becomes the oldest partition as it is: no row is moved but those of a clock that was ahead,
which are in a table that inherits from it where `probes.store.write.partition_ahead` was there before.
"""

from alembic import op

from probes.store.migrations.spelling import spelled

revision = "0018"
down_revision = "0017"

# Spelled out and never edited again: a migration is what a version did, not what the tables say today.
SAMPLES = """
CREATE OR REPLACE VIEW samples AS SELECT
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

PARTITION = """
DO $$
DECLARE
    one record;
    definitions text[];
    views oid[];
    selects text[];
    stop bigint;
BEGIN
    LOCK TABLE sample IN ACCESS EXCLUSIVE MODE;
    SELECT coalesce(array_agg(pg_get_indexdef(indexrelid)), '{}') INTO definitions
        FROM pg_index WHERE indrelid = 'sample'::regclass AND NOT indisunique;
    SELECT coalesce(array_agg(oid), '{}'), coalesce(array_agg(pg_get_viewdef(oid)), '{}') INTO views, selects
        FROM pg_class WHERE relkind = 'v' AND relpersistence <> 't' AND oid IN (
            SELECT ev_class FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
            WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
            AND refobjid = 'sample'::regclass);
    ALTER TABLE sample RENAME TO sample_before;
    FOR one IN SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = 'sample_before'::regclass AND NOT indisunique
    LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', one.relname, one.relname || '_before');
    END LOOP;
    ALTER TABLE sample_before DROP CONSTRAINT sample_pkey;
    CREATE UNIQUE INDEX IF NOT EXISTS sample_before_pkey ON sample_before (id, started_at);
    ALTER TABLE sample_before ADD PRIMARY KEY USING INDEX sample_before_pkey;

    CREATE TABLE sample (LIKE sample_before INCLUDING DEFAULTS INCLUDING COMMENTS) PARTITION BY RANGE (started_at);
    EXECUTE (SELECT format('ALTER TABLE sample OWNER TO %I', pg_get_userbyid(relowner))
        FROM pg_class WHERE oid = 'sample_before'::regclass);
    EXECUTE format('ALTER SEQUENCE %s OWNED BY sample.id', pg_get_serial_sequence('sample_before', 'id'));
    ALTER TABLE sample ADD CONSTRAINT sample_pkey PRIMARY KEY (id, started_at);
    ALTER TABLE sample ADD CONSTRAINT sample_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoint (id);
    FOR i IN 1 .. cardinality(definitions) LOOP
        EXECUTE definitions[i];
    END LOOP;
    FOR one IN
        SELECT privilege_type AS what, '' AS col, grantee, is_grantable FROM pg_class, aclexplode(relacl)
            WHERE oid = 'sample_before'::regclass AND grantee <> relowner
        UNION ALL
        SELECT privilege_type, format('(%I)', attname), grantee, is_grantable FROM pg_attribute, aclexplode(attacl)
            WHERE attrelid = 'sample_before'::regclass
    LOOP
        EXECUTE format('GRANT %s %s ON sample TO %s %s', one.what, one.col,
            CASE one.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(one.grantee)) END,
            CASE WHEN one.is_grantable THEN 'WITH GRANT OPTION' ELSE '' END);
    END LOOP;

    -- where the oldest partition ends: as was prepared while others wrote, else with this month, an empty one before
    SELECT (regexp_match(pg_get_constraintdef(oid), '< ''?(\\d+)'))[1]::bigint INTO stop
        FROM pg_constraint
        WHERE conrelid = 'sample_before'::regclass AND conname = 'sample_before_end' AND convalidated;
    IF stop IS NULL THEN
        SELECT extract(epoch FROM (date_trunc('month', now() AT TIME ZONE 'UTC') + months) AT TIME ZONE 'UTC') * 1000
            INTO stop FROM (SELECT CASE WHEN EXISTS (SELECT FROM sample_before) THEN interval '1 month'
            ELSE interval '0' END AS months) AS ahead;
    END IF;
    IF to_regclass('sample_other') IS NULL THEN
        CREATE TABLE sample_other PARTITION OF sample DEFAULT;
    ELSE
        ALTER TABLE sample_other NO INHERIT sample_before;
        ALTER TABLE sample ATTACH PARTITION sample_other DEFAULT;
    END IF;
    WITH moved AS (DELETE FROM sample_before WHERE started_at >= stop RETURNING *)
        INSERT INTO sample SELECT * FROM moved;
    EXECUTE format('ALTER TABLE sample ATTACH PARTITION sample_before FOR VALUES FROM (MINVALUE) TO (%s)', stop);
    ALTER TABLE sample_before DROP CONSTRAINT IF EXISTS sample_before_end;
    ALTER TABLE sample_other DROP CONSTRAINT IF EXISTS sample_other_start;

    -- views are bound to the table they were made of: those of others follow the name, too, where we may replace them
    FOR i IN 1 .. cardinality(views) LOOP
        BEGIN
            EXECUTE (SELECT format('CREATE OR REPLACE VIEW %s %s AS %s', oid::regclass,
                'WITH (' || array_to_string(reloptions, ', ') || ')', selects[i]) FROM pg_class WHERE oid = views[i]);
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- one of another role, say: whoever opens the store names it
        END;
    END LOOP;
END $$
"""


def upgrade() -> None:
    """From 0017; what `probes.store.write.partition_ahead` has prepared makes it a matter of milliseconds."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(PARTITION)
        op.execute(spelled(SAMPLES))

"""What is judged of endpoints, incidents and what happened in them, silences, messages that wait, status pages."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """From 0014; nothing that is there is touched."""
    op.create_table(
        "judgement",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("endpoint", sa.String, primary_key=True),
        sa.Column("lane", sa.String, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "baseline",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("endpoint", sa.String, primary_key=True),
        sa.Column("lane", sa.String, primary_key=True),
        sa.Column("metric", sa.String, primary_key=True),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "incident",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("resolved_at", sa.BigInteger),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("acknowledged_at", sa.BigInteger),
        sa.Column("acknowledged_by", sa.String),
        sa.Column("silenced_until", sa.BigInteger),
        sa.Column("note", sa.Text),
    )
    op.create_index("incident_by_time", "incident", ["opened_at"])
    op.create_table(
        "incident_event",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("incident_id", sa.String, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("endpoint", sa.String),
        sa.Column("vantage", sa.String),
    )
    op.create_index("incident_event_by_incident", "incident_event", ["incident_id", "at"])
    op.create_table(
        "silence",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("scope", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("made_by", sa.String),
        sa.Column("note", sa.Text),
    )
    op.create_index("silence_by_end", "silence", ["until"])
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("incident_id", sa.String),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("idempotency_key", sa.String, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("reached_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("ended", sa.String),
        sa.Column("problem", sa.Text),
    )
    op.create_index("outbox_by_time", "outbox", ["ended_at", "next_at"])
    op.create_table(
        "status_post",
        sa.Column("page", sa.String, primary_key=True),
        sa.Column("post", sa.String, primary_key=True),
        sa.Column("provider", sa.String, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("status_post_by_time", "status_post", ["at"])

"""Races, heat by heat and lane by lane: three tables of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """From 0006; nothing that is there is touched."""
    op.create_table(
        "race",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("vantage", sa.String, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("wish", sa.Text, nullable=False),
        sa.Column("lanes", sa.Text, nullable=False),
        sa.Column("differences", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("stopped", sa.String),
    )
    op.create_table(
        "heat",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("race_id", sa.Integer, sa.ForeignKey("race.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("start_order", sa.Text, nullable=False),
        sa.Column("skew_ms", sa.Float),
        sa.Column("nonce", sa.String, nullable=False),
        sa.UniqueConstraint("race_id", "number", name="heat_identity"),
    )
    op.create_table(
        "lane",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("heat_id", sa.Integer, sa.ForeignKey("heat.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("place", sa.Integer),
        sa.Column("sample", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("recording", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("heat_id", "number", name="lane_identity"),
    )

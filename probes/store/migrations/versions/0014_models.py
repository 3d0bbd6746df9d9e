"""What providers say they serve: their lists of models as last known, and what changed in them."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """From 0013; nothing that is there is touched."""
    op.create_table(
        "model_list",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("source", sa.String, primary_key=True),
        sa.Column("provider", sa.String, nullable=False),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("asked_at", sa.BigInteger, nullable=False),
        sa.Column("models", sa.Text, nullable=False),
    )
    op.create_table(
        "model_event",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("vantage", sa.String, nullable=False),
        sa.Column("provider", sa.String, nullable=False),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
    )
    op.create_index("model_event_by_time", "model_event", ["at"])

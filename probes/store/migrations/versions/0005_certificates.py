"""What selftests found: a table of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """From 0004."""
    op.create_table(
        "certificate",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("measured_at", sa.BigInteger, nullable=False),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )

"""How far a store is pruned, which store it is, and what came from others: three small tables."""

from secrets import token_hex

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """From 0008; nothing that is there is touched."""
    op.create_table(
        "pruned",
        sa.Column("what", sa.String, primary_key=True),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
    )
    identity = op.create_table(
        "identity", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String, nullable=False)
    )
    op.create_table(
        "arrival",
        sa.Column("source", sa.String, primary_key=True),
        sa.Column("what", sa.String, primary_key=True),
        sa.Column("last", sa.Text, nullable=False),
    )
    op.bulk_insert(identity, [{"id": 1, "name": token_hex(16)}])

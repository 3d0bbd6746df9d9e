"""Who may record, by tenures: one small table."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """From 0010; nothing that is there is touched."""
    op.create_table(
        "lease",
        sa.Column("scope", sa.String, primary_key=True),
        sa.Column("token", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("holder", sa.String, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("locked", sa.Boolean, nullable=False),
    )

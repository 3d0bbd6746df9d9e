"""Recorders that share a vantage: who does, a row of each among the recorders, and what of a day's budget each has."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """From 0016; a recorder that shares with nobody has the run ''."""
    op.create_table(
        "sharer",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("run", sa.String, primary_key=True),
        sa.Column("holder", sa.String, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("endpoints", sa.Text, nullable=False),
    )
    op.create_table(
        "budget_grant",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("run", sa.String, primary_key=True),
        sa.Column("granted_usd", sa.Float, nullable=False),
        sa.Column("granted_tokens", sa.BigInteger, nullable=False),
        sa.Column("used_usd", sa.Float, nullable=False),
        sa.Column("used_tokens", sa.BigInteger, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":  # in place: who may read the table still may
        op.add_column("recorder", sa.Column("run", sa.String, nullable=False, server_default=""))
        op.alter_column("recorder", "run", server_default=None)
        op.drop_constraint("recorder_pkey", "recorder", type_="primary")
        op.create_primary_key("recorder_pkey", "recorder", ["vantage", "run"])
        return
    op.rename_table("recorder", "recorder_before")
    op.create_table(
        "recorder",
        sa.Column("vantage", sa.String, primary_key=True),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("beat_at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("run", sa.String, primary_key=True),
    )
    names = "vantage, pid, host, version, started_at, beat_at, status"
    op.execute(f"INSERT INTO recorder ({names}, run) SELECT {names}, '' FROM recorder_before")  # noqa: S608
    op.drop_table("recorder_before")

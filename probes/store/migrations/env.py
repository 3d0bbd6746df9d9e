"""How Alembic runs: on the connection it is handed, inside the transaction that is already open on it."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    transactional_ddl=True,  # SQLite can: the whole upgrade is there, or none of it
)
with context.begin_transaction():
    context.run_migrations()

"""Migrations: one file per schema version, run by Alembic from within the package (see `store.write.database`)."""

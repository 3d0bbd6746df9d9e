"""The schema of a store brought to the newest version by the migrations it lacks."""

from sqlalchemy import Engine


def upgrade(engine: Engine) -> None:
    """Run the missing migrations in one transaction: they all happened, or none."""
    from alembic import command  # takes its time to import, and most stores are up to date
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "probes.store:migrations")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

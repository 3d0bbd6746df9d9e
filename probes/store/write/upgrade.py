"""A store brought to the newest version: the migrations that it lacks, and a copy of its file before they run.

The copy is for an older inftop, which cannot open the store any more.
"""

import sqlite3
from contextlib import closing
from glob import escape
from pathlib import Path
from threading import Lock
from typing import Final

from sqlalchemy import Engine

from probes.store.location import make_private_file

_ONE_AT_A_TIME: Final = Lock()
"""Alembic keeps what it works on in a place that all threads share."""


def upgrade(engine: Engine) -> None:
    """Run the missing migrations in one transaction: they all happened, or none."""
    from alembic import command  # takes its time to import, and most stores are up to date
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "probes.store:migrations")
    with _ONE_AT_A_TIME, engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def make_backup(connection: sqlite3.Connection, path: Path, revision: str) -> Path:
    """Copy the store at ``path``, open as ``connection``, to ``NAME.before-REVISION`` beside it; older copies go.

    The copy is there whole or not at all. Raises sqlite3.Error and OSError.
    """
    backup = path.with_name(f"{path.name}.before-{revision}")
    new = backup.with_name(f"{backup.name}.new")
    new.unlink(missing_ok=True)
    try:
        make_private_file(new)
        with closing(sqlite3.connect(new)) as copy:
            connection.backup(copy)
        new.replace(backup)
    finally:
        new.unlink(missing_ok=True)
    for old in path.parent.glob(f"{escape(path.name)}.before-*"):
        if old != backup:
            old.unlink()
    return backup

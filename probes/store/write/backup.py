"""A copy of a store's file beside it, made before a migration, so that an older inftop has something to open."""

import sqlite3
from contextlib import closing
from glob import escape
from pathlib import Path

from probes.store.location import make_private_file


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

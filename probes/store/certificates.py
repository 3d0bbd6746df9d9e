"""Certificates: what selftests found, kept beside the samples they vouch for."""

import json
from pathlib import Path

from sqlalchemy import insert

from probes.selftest.certificate import Certificate
from probes.store.database import open_database, translated
from probes.store.tables import CERTIFICATE


def keep(path: Path, found: Certificate) -> None:
    """Store a certificate; a recorder may be writing to the same store. Raises StoreProblem."""
    engine = open_database(path)
    try:
        with translated(), engine.begin() as connection:
            values = {"measured_at": found.measured_at, "host": found.host, "text": json.dumps(found.to_json())}
            connection.execute(insert(CERTIFICATE), values)
    finally:
        engine.dispose()

"""Stage: where one load is played: the truth's addresses, the store, and the file for what the engine saw."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from probes.selftest.load import Load


@dataclass(frozen=True, slots=True)
class Stage:
    """What the engine of a selftest is told."""

    load: Load
    plain_url: str
    tls_url: str
    store_url: str
    seen: str

    def write(self, path: Path) -> None:
        """Keep it in a file, for a process of its own."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Stage":
        """The stage of a file that `write` made."""
        values = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**values, "load": Load(**values["load"])})

"""Probed: a configuration as a person writes it, and what `inftop probe` and `inftop record` say of its endpoints."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from probes.sample import Sample
from probes.store.read.reader import StoreReader

USUAL = """
[probe]
prompt = "Tell a story."
max_output_tokens = 64
"""


async def probed(
    configuration: str, folder: Path, *, count: int = 1, environment: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The samples of ``inftop --config FILE probe --json`` with this configuration, in the order they were made."""
    path = folder / "config.toml"
    path.write_text(USUAL + configuration)
    out = await _inftop("--config", str(path), "probe", "--json", "--count", str(count), environment=environment)
    return [json.loads(line) for line in out.splitlines()]


async def recorded(configuration: str, folder: Path, *, lasting: str) -> list[Sample]:
    """What ``inftop --config FILE record --for TIME`` stored with this configuration, in a store of its own."""
    path, store = folder / "config.toml", f"sqlite:///{folder}/history.db"
    path.write_text(f'[store]\nurl = "{store}"\n{USUAL}{configuration}')
    await _inftop("--config", str(path), "record", "--for", lasting)
    with closing(StoreReader(store)) as reader:
        return list(reader.samples())


async def _inftop(*words: str, environment: Mapping[str, str] | None = None) -> bytes:
    """What inftop prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "probes", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    out, said = await process.communicate()
    assert b"Traceback" not in said, said.decode()
    assert out, said.decode()
    return out

"""``export``: stored samples as CSV or JSON lines, into a file or to standard output."""

import json
import sys
from collections.abc import Collection
from pathlib import Path

from probes import export as exports
from probes.config import find_config, load
from probes.selftest.certificate import Certificate
from probes.store.certificates import newest
from probes.store.place import default_url
from probes.store.reader import StoreReader


class NoCertificate(Exception):  # noqa: N818  # what is missing, not what went wrong
    """No selftest has been made that could vouch for an export."""


def export(
    config: Path | None,
    *,
    since_ms: int,
    until_ms: int | None,
    endpoints: Collection[str],
    format: exports.Format,  # noqa: A002  # the word people know
    output: Path | None,
    certificate: bool,
) -> None:
    """Write the samples started from ``since_ms`` until before ``until_ms``; progress goes to a terminal's stderr.

    ``certificate``: write the newest selftest's beside ``output``, which must be given. Raises ConfigError,
    StoreProblem, NoCertificate before anything is written, and OSError where a file cannot be written.
    """
    url = load(find_config(config)).store_url or default_url()
    vouching = _certificate(url) if certificate else None
    watched = sys.stderr.isatty()
    with StoreReader(url) as reader:
        count = exports.export(
            reader,
            output or sys.stdout.buffer,
            since_ms=since_ms,
            until_ms=until_ms,
            endpoints=endpoints,
            format=format,
            on_progress=_show_progress if watched else None,
        )
    sys.stdout.flush()
    if vouching is not None and output is not None:
        beside = output.with_name(f"{output.name}.certificate.json")
        beside.write_text(json.dumps(vouching.to_json(), indent=2) + "\n", encoding="utf-8")
    if watched:
        sys.stderr.write("\r\x1b[K")
    if output or not count:
        counted = "1 sample" if count == 1 else f"{count:,} samples"
        print(f"{counted} in {output}" if output else counted, file=sys.stderr)  # noqa: T201


def _certificate(url: str) -> Certificate:
    found = newest(url)
    if found is None:
        raise NoCertificate("no certificate in the history: run inftop selftest first")
    return found


def _show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"\r\x1b[K{done:,} of {total:,} samples")
    sys.stderr.flush()

"""``export``: samples or rollups of the store, into a file or to standard output."""

import json
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import typer

from probes.certificate import Certificate
from probes.cli.output.progress_bar import progress_bar
from probes.config.file import find_config
from probes.config.load import Config, load
from probes.config.select import in_group
from probes.exports.export import Format
from probes.exports.export import export as write_export
from probes.exports.request import ExportRequest
from probes.exports.selection import Selection
from probes.store.certificates import newest
from probes.store.location import default_url
from probes.store.read.reader import StoreReader


class NoCertificate(Exception):  # noqa: N818  # what is missing, not what went wrong
    """No selftest has been made that could vouch for an export."""


def export(
    config: Path | None,
    request: ExportRequest,
    *,
    groups: Collection[str],
    format: Format,  # noqa: A002  # the word people know
    output: Path | None,
    certificate: bool,
) -> None:
    """Write what is requested; a bar on standard error shows the progress, where that is a terminal.

    ``groups``: the endpoints of these groups too. ``certificate``: write the newest selftest's beside ``output``, which
    must be given then. Raises ConfigError, UnknownGroup, StoreProblem, NoCertificate and NoParquet before anything is
    written, and OSError where a file cannot be written.
    """
    loaded = load(find_config(config))
    url = loaded.store_url or default_url()
    newest_certificate = _certificate(url) if certificate else None
    with StoreReader(url) as reader, progress_bar("Exporting") as on_progress:
        count = write_export(
            reader,
            output or sys.stdout.buffer,
            _with_groups(request.selection, loaded, groups),
            format=format,
            columns=request.columns,
            zone=request.zone,
            rollup=request.rollup,
            on_progress=on_progress if sys.stderr.isatty() else None,  # for which all rows are counted
        )
    sys.stdout.flush()
    if newest_certificate is not None and output is not None:
        beside = output.with_name(f"{output.name}.certificate.json")
        beside.write_text(json.dumps(newest_certificate.to_json(), indent=2) + "\n", encoding="utf-8")
    if output or not count:
        counted = f"{count:,} {'rollup' if request.rollup else 'sample'}{'' if count == 1 else 's'}"
        typer.echo(f"{counted} in {output}" if output else counted, err=True)


def _with_groups(selection: Selection, config: Config, groups: Collection[str]) -> Selection:
    members = [one.name for group in groups for one in in_group(config.endpoints, group)]
    return replace(selection, endpoints=[*selection.endpoints, *members])


def _certificate(url: str) -> Certificate:
    found = newest(url)
    if found is None:
        raise NoCertificate("no certificate in the history: run inftop selftest first")
    return found

"""Export: stored samples as CSV or JSON lines, in the columns of a sample, however many, in constant memory.

SQLite puts the lines together, several times as fast as Python would. Python looks at each and redoes those that hold
what a terminal or a spreadsheet might obey. CSV is quoted as in RFC 4180, in UTF-8 with lines ended by LF; a text that
begins like a formula gets a ``'`` in front.
"""
# ruff: noqa: S608 - statements are put together from names of this package; values are always parameters

import io
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TextIO, cast

from probes.sample import COLUMNS, Sample
from probes.store.reader import StoreReader, within
from probes.store.row import ENDPOINT_COLUMNS, KINDS, SAMPLE_COLUMNS, EndpointKey
from probes.text import plain

Format = Literal["csv", "jsonl"]
Progress = Callable[[int, int], None]
"""Called now and then with the samples written so far, and all that there are to write."""

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula: https://owasp.org/www-community/attacks/CSV_Injection."""

_STARTED_AT: Final = "strftime('%Y-%m-%dT%H:%M:%f', sample.started_at / 1000.0, 'unixepoch') || 'Z'"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a format writes a sample: SQL for what is in the sample's row, Python for the rest.

    A line is ``start``, the time it started, the endpoint's part (made of `EndpointKey`), the row's part. ``safe`` says
    whether a line that SQLite put together may be taken as it is; else ``whole`` makes it again.
    """

    header: str
    start: str
    endpoint: Callable[[EndpointKey], str]
    row_sql: str
    safe: Callable[[str], bool]
    whole: Callable[[Sample], str]


def export(
    reader: StoreReader,
    out: Path | BinaryIO | TextIO,
    *,
    since_ms: int | None = None,
    until_ms: int | None = None,
    endpoints: Collection[str] = (),
    format: Format = "csv",  # noqa: A002 - the word people know
    on_progress: Progress | None = None,
) -> int:
    """Write the samples started from ``since_ms`` until before ``until_ms``, oldest first; how many there were.

    No ``endpoints`` are all of them. A file appears whole or not at all, readable by its owner alone. Raises
    StoreProblem where the store cannot be read, OSError where ``out`` cannot be written.
    """
    total = reader.count(since_ms, until_ms, endpoints) if on_progress else 0
    done = 0
    with opened(out) as write:
        layout = LAYOUTS[format]
        write(layout.header)
        for lines in _lines(reader, layout, *within(since_ms, until_ms, endpoints)):
            write("".join(lines))
            done += len(lines)
            if on_progress:
                on_progress(done, total)
    return done


def _lines(reader: StoreReader, layout: Layout, where: str, parameters: list[Any]) -> Iterator[list[str]]:
    """The lines of the samples that the condition chooses, some at a time."""
    parts = f"sample.id, sample.endpoint_id, {_STARTED_AT}, {layout.row_sql}"
    endpoints: dict[int, str] = {}
    for rows in reader.rows(f"SELECT {parts} FROM sample WHERE {where} ORDER BY sample.started_at", parameters):
        if not endpoints:  # asked after the first rows: it then knows every endpoint they can be of
            endpoints = {key: layout.endpoint(values) for key, values in reader.endpoints().items()}
        lines = [f"{layout.start}{at}{endpoints[endpoint]}{row}\n" for _, endpoint, at, row in rows]
        for place, text in enumerate(lines):
            if not layout.safe(text[:-1]):
                lines[place] = layout.whole(reader.sample(rows[place][0])) + "\n"
        yield lines


@contextmanager
def opened(out: Path | BinaryIO | TextIO) -> Iterator[Callable[[str], object]]:
    """What writes text to ``out``. A file is written beside it and takes its place when complete."""
    if isinstance(out, Path):
        with _opened_path(out) as file:
            yield file.write
    elif isinstance(out, io.TextIOBase):
        yield out.write
    else:
        stream = cast("BinaryIO", out)
        yield lambda text: stream.write(text.encode())


@contextmanager
def _opened_path(path: Path) -> Iterator[TextIO]:
    if path.exists() and not path.is_file():  # a pipe or a device is written to, not replaced
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    path = path.resolve()  # a link stays a link
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # for its owner alone
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise


def csv_cell(value: Any) -> str:
    """One value as a CSV field: quoted where needed, a text that looks like a formula made plain text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    text = plain(value)
    quoted = text.replace('"', '""')
    if text.startswith(FORMULA):
        return f'"\'{quoted}"'
    return f'"{quoted}"' if any(mark in text for mark in ',"\n') else text


def _csv_sql(name: str) -> str:
    """What `csv_cell` does, in SQL, but for control characters: lines with some are not safe, and done again."""
    column = f"sample.{name}"
    if KINDS[name] == "bool":
        return f"CASE {column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
    if KINDS[name] != "text":
        return column
    quoted = f"""replace({column}, '"', '""') || '"'"""
    return (
        f"""CASE WHEN {column} GLOB '[=+@-]*' THEN '"''' || {quoted} """
        f"""WHEN {column} GLOB '*[",]*' THEN '"' || {quoted} ELSE {column} END"""
    )


def _csv_line(sample: Sample) -> str:
    return ",".join(map(csv_cell, sample.to_json().values()))


def _json_sql(name: str) -> str:
    column = f"sample.{name}"
    if KINDS[name] == "bool":
        return f"CASE {column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END"
    return f"json_quote({column})" if KINDS[name] in ("text", "word") else f"coalesce({column}, 'null')"


def _json_line(sample: Sample) -> str:
    record = {name: plain(value) if isinstance(value, str) else value for name, value in sample.to_json().items()}
    return json.dumps(record, separators=(",", ":"))


_OWN: Final = [name for name in SAMPLE_COLUMNS if name != "started_at"]

LAYOUTS: Final[dict[Format, Layout]] = {
    "csv": Layout(
        header=",".join(COLUMNS) + "\n",
        start="",
        endpoint=lambda values: "".join(f",{csv_cell(value)}" for value in values) + ",",
        row_sql=f"printf('{','.join('%s' for _ in _OWN)}', {', '.join(map(_csv_sql, _OWN))})",
        safe=str.isprintable,
        whole=_csv_line,
    ),
    "jsonl": Layout(
        header="",
        start='{"started_at":"',
        endpoint=lambda values: (
            '",'
            + "".join(
                f'"{name}":{json.dumps(plain(value), ensure_ascii=False)},'
                for name, value in zip(ENDPOINT_COLUMNS, values, strict=True)
            )
        ),
        row_sql=(
            "printf('" + ",".join(f'"{name}":%s' for name in _OWN) + "}', " + ", ".join(map(_json_sql, _OWN)) + ")"
        ),
        safe=lambda text: text.isprintable() and "\\u" not in text,
        whole=_json_line,
    ),
}

"""JSON lines: one object a line, every column in it, null where a value is not known."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo

from probes.exports.columns import Column, Holds, Row
from probes.exports.instants import writer
from probes.text import plain


def line_of(columns: Sequence[Column], zone: tzinfo) -> Callable[[Row], str]:
    """What makes the line of a row, without its end."""
    names, instant = [one.name for one in columns], writer(zone)
    instants = {one.name for one in columns if one.holds == "instant"}

    def line(row: Row) -> str:
        record = dict(zip(names, (plain(one) if isinstance(one, str) else one for one in row), strict=True))
        record |= {name: instant(record[name]) for name in instants}  # type: ignore[arg-type]
        return json.dumps(record, separators=(",", ":"))

    return line


def line_sql(columns: Sequence[Column], sql: Mapping[str, str]) -> str:
    """What `line_of` does, in SQLite's SQL, but for control characters; ``sql`` says where a column's value is."""
    fields = ",".join(f'"{one.name}":%s' for one in columns)
    return f"printf('{{{fields}}}', {', '.join(_value_sql(one.holds, sql[one.name]) for one in columns)})"


def safe(line: str) -> bool:
    """Whether a line that SQLite made may be taken as it is: an escaped control character is one, too."""
    return line.isprintable() and "\\u" not in line


def _value_sql(holds: Holds, value: str) -> str:
    if holds == "bool":
        return f"CASE {value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END"
    return f"json_quote({value})" if holds in ("text", "word", "instant") else f"coalesce({value}, 'null')"

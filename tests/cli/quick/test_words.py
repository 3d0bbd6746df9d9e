"""The words of a quick command's line: what is plainly right, and all else is the parser's."""

import pytest

from probes.cli.quick.words import parsed

OPTIONS, FLAGS = {"--by": "by", "--since": "window", "--window": "window"}, {"--json": "json"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("g", (["g"], {}, set())),
        ("g --by ttft --json", (["g"], {"by": "ttft"}, {"json"})),
        ("--by=cost g --since=1h --window 2h", (["g"], {"by": "cost", "window": "2h"}, set())),
        ("--by= g", (["g"], {"by": ""}, set())),
        ("", ([], {}, set())),
    ],
)
def test_what_is_plainly_right(line, found):
    assert parsed(line.split(), OPTIONS, FLAGS) == found


@pytest.mark.parametrize(
    "line", ["g --help", "-h", "g --by", "g --by --json", "--json=1", "g --bye 1", "-- g", "-", "-x"]
)
def test_all_else_is_the_parsers(line):
    assert parsed(line.split(), OPTIONS, FLAGS) is None

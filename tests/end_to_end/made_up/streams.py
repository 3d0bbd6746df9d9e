"""Murmur, a made-up dialect: its streams and what the tests of every dialect must know of it.

It stands at ``tests/wire/test_murmur.py`` while its test runs.
"""

from probes.wire.murmur import DIALECT

from probes.events import Finish, Kind, Output, ServedBy, StreamEnd, Usage
from tests.wire.dialect_facts import DialectFacts, line, row

STREAMS = {
    "text": row({"murmurer": "m"})
    + row({"word": "Hel"})
    + row({"word": "lo!"})
    + row({"why": "period", "counts": {"heard": 9, "said": 3}}),
    "thinking": row({"thought": "Hm"}) + row({"word": "Yes"}) + row({"why": "length", "counts": {}}),
    "failed": row({"word": "On"}) + row({"error": "the lamp went out"}),
}


class Records:
    """How it says things; the reason of the end comes with the counts."""

    marker = b""
    frame = staticmethod(line)

    def output(self, text: str) -> bytes:
        return row({"word": text})

    def finish(self) -> bytes:
        return b"\n"

    def usage(self, prompt: int, output: int) -> bytes:
        return row({"why": "period", "counts": {"heard": prompt, "said": output}})


FACTS = DialectFacts(
    stop="period",
    cap="length",
    records=Records(),
    misshapen=[{"why": "period", "counts": "x"}, {"why": "period", "counts": [1]}],
    nothing=[{}, {"word": None}, {"thought": ""}, {"counts": None}],
    speed_bases=("output", "answer", "output", "answer", None, "answer", None),
    keep_alive=b"\n",
)


def test_a_whole_answer():
    reader = DIALECT.reader()
    assert [*reader.feed(STREAMS["text"]), *reader.close()] == [
        ServedBy("m"),
        Output(Kind.ANSWER, "Hel"),
        Output(Kind.ANSWER, "lo!"),
        Finish("period"),
        Usage(9, None, 3, None),
        StreamEnd(),
    ]

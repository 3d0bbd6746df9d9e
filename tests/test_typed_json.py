"""JSON of frozen values and back: only what is of the type that was asked for, and every text."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.json import Decoder

from probes.typed_json import decode, encode


class Box(Struct, frozen=True, omit_defaults=True):
    held: Any = None


@dataclass(frozen=True)
class Number:
    is_: float


BOX, ANYTHING, NUMBER = Decoder(Box), Decoder(Any), Decoder(Number)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_comes_back(text):
    line = encode(Box(text))
    assert b"\n" not in line
    assert decode(line, BOX) == Box(text)


def test_a_text_of_the_standard_library_comes_back_as_it_reads_it():
    assert decode(json.dumps({"held": "\ud83d\ude00 \ud83d"}), BOX) == Box("\U0001f600 \ud83d")


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "{}", "NaN", '{"is_": "5"}', '{"is_": true}', '{"is_": "\\ud800"}'),
        *('{"is_": NaN}', '{"is_": -Infinity}', '{"is_": 1e999}'),
        *('{"is_": NaN, "a": "\\ud800"}', '{"is_": 1e999, "a": "\\ud800"}'),
        *("[" * 100_000, '{"is_": ' + "[" * 100_000, '{"a": "\\ud800", "is_": ' + "[" * 100_000),
    ],
)
def test_what_is_no_value_of_the_type_is_a_value_error(text):
    for one in (text, text.encode()):
        with pytest.raises(ValueError, match=r"."):
            decode(one, NUMBER)


def test_what_is_nested_too_deeply_is_a_value_error_where_anything_may_come():
    with pytest.raises(ValueError, match="nested too deeply"):
        decode("[" * 100_000, ANYTHING)


def test_bytes_that_are_not_utf_8_are_a_value_error():
    with pytest.raises(ValueError, match="utf-8"):
        decode(b'{"held": "\xff"}', BOX)

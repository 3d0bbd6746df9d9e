"""Values out of a provider's JSON: what is missing is nothing, and what has a wrong type says so."""

import pytest

from probes.wire.framing.json_values import (
    Malformed,
    count,
    mapping,
    number,
    object_in,
    objects_in,
    parsed,
    string,
    text_in,
)

NOTHING = [{}, {"a": None}, {"a": False}, {"a": ""}, {"a": []}]


@pytest.mark.parametrize("text", ['{"a": 1}', ' {"a": 1}', '{"a": 1} ', "[1]", "1", '"x"', "null"])
def test_json_is_read_with_blanks_around_it_or_without(text: str):
    assert parsed(text) == {"{": {"a": 1}, "[": [1], "1": 1, '"': "x", "n": None}[text.strip()[0]]


@pytest.mark.parametrize("text", ['{"a": 1} x', '{"a": 1}{}', "{", "", "x"])
def test_what_is_no_json_or_more_than_one_is_refused(text: str):
    with pytest.raises(ValueError, match=r"."):
        parsed(text)


@pytest.mark.parametrize("record", NOTHING)
def test_a_field_that_is_missing_or_empty_is_nothing(record):
    assert object_in(record, "a") == {}
    assert objects_in(record, "a") == []
    assert text_in({} if record.get("a") == [] else record, "a") == ""


def test_a_field_of_its_own_type_is_itself():
    assert object_in({"a": {"b": 1}}, "a") == {"b": 1}
    assert objects_in({"a": [{"b": 1}, None, {}]}, "a") == [{"b": 1}, {}]
    assert text_in({"a": "b"}, "a") == "b"


@pytest.mark.parametrize(
    ("read", "value", "why"),
    [
        (object_in, [1], "a is not an object: [1]"),
        (object_in, "ü", 'a is not an object: "ü"'),
        (objects_in, {"b": 1}, 'a is not a list of objects: {"b": 1}'),
        (objects_in, [1], "a is not a list of objects: [1]"),
        (objects_in, [{}, "x"], 'a is not a list of objects: [{}, "x"]'),
        (text_in, 1, "a is not text: 1"),
        (text_in, 0, "a is not text: 0"),  # as an empty text it would be a piece of text lost
        (text_in, 0.0, "a is not text: 0.0"),
        (text_in, True, "a is not text: true"),
        (text_in, {"b": 1}, 'a is not text: {"b": 1}'),
    ],
)
def test_a_field_of_another_type_is_malformed_and_shown(read, value, why: str):
    with pytest.raises(Malformed) as caught:
        read({"a": value}, "a")
    assert str(caught.value) == why


def test_of_a_large_value_only_the_beginning_is_shown_and_of_no_json_its_type():
    with pytest.raises(Malformed) as caught:
        text_in({"a": ["x" * 500]}, "a")
    assert str(caught.value) == "a is not text: " + ('["' + "x" * 500)[:200]
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(Malformed, match=r"^a is not text: a list$"):
        text_in({"a": deep}, "a")


# fields that are only of use, so that one of a wrong type is as good as missing


@pytest.mark.parametrize("value", [None, [], [1], "x", 0, 1, True])
def test_what_is_no_object_is_an_empty_one(value):
    assert mapping(value) == {}
    assert mapping({"a": value}) == {"a": value}


@pytest.mark.parametrize("value", [None, "", 0, 1, True, ["x"], {"x": 1}])
def test_what_is_no_text_or_an_empty_one_is_none(value):
    assert string(value) is None
    assert string("x") == "x"


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        (0, 0),
        (7, 7),
        (7.0, 7),  # some gateways send counts as floats
        (7.5, None),
        (-1, None),
        (-1.0, None),
        (2**53, 2**53),
        (2**53 + 1, None),
        (1e308, None),
        (float("nan"), None),
        (True, None),
        ("7", 7),  # and some as text
        ("7.0", 7),
        (" 7 ", 7),
        ("7.5", None),
        ("-7", None),
        ("9007199254740993", 2**53),  # read as a float, exact up to here
        ("1e308", None),
        ("nan", None),
        ("", None),
        ("seven", None),
        ("9" * 10_000, None),
        (None, None),
        ([7], None),
    ],
)
def test_a_count_is_a_whole_number_that_a_store_can_hold(value, counted):
    found = count(value)
    assert found == counted
    assert found is None or type(found) is int


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, 0.0),
        (1.5, 1.5),
        ("1.5", 1.5),  # Fireworks
        ("0", 0.0),
        (-0.1, None),
        ("-1", None),
        ("fast", None),
        ("", None),
        (float("inf"), None),
        ("nan", None),
        ("1e999", None),
        (10**400, None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_a_number_is_finite_and_not_negative_and_may_be_written_as_text(value, told):
    assert number(value) == told

"""Contenders: those compared at first, added and removed ones; letters stay."""

import pytest

from probes.endpoint import Price
from tests.tui.fabric import HABITS, facts
from tui.compare.contender import MOST, Contender, first_contenders, groups, in_fleet_colors, preselected, toggled

FLEET = [facts(habit) for habit in HABITS]
CEREBRAS, GROQ, ROUTER, OPUS, FAST, SPARK, *_ = FLEET


def names(found):
    return [one.name for one in found]


def test_at_first_those_of_the_same_model_are_compared():
    assert names(preselected(FLEET, GROQ.name)) == [GROQ.name, CEREBRAS.name, ROUTER.name]
    assert names(preselected(FLEET, OPUS.name)) == [OPUS.name, FAST.name]


def test_without_a_group_the_best_others_are():
    best_first = [ROUTER, SPARK, *(one for one in FLEET if one not in (ROUTER, SPARK))]
    assert names(preselected(best_first, SPARK.name)) == [SPARK.name, *names([ROUTER, CEREBRAS, GROQ, OPUS, FAST])]


def test_where_nobody_is_chosen_the_first_are():
    assert names(preselected(FLEET, None)) == names(FLEET[:MOST])
    assert preselected([], "x") == ()


def test_a_contender_is_what_is_configured():
    cold = facts(next(habit for habit in HABITS if habit.mood == "cold"), price=Price(1.0, 2.0), interval=30.0)
    assert Contender.of(cold, 2) == Contender("local/llama.cpp", 2, None, "cold", 30.0, True)
    assert Contender.of(CEREBRAS, 0).letter == "A"
    one = Contender.of(CEREBRAS, 1, "fra")
    assert (one.key, one.label, one.letter) == (f"fra {CEREBRAS.name}", "fra", "B")


def test_contenders_have_the_colours_of_the_dashboard_and_places_those_of_their_letters():
    of_fleet = in_fleet_colors(first_contenders([GROQ, CEREBRAS]), {one.name: slot for slot, one in enumerate(FLEET)})
    assert [one.color for one in of_fleet] == [names(FLEET).index(one.name) for one in (GROQ, CEREBRAS)]
    assert [one.letter for one in of_fleet] == ["A", "B"]
    assert Contender.of(CEREBRAS, 3, "fra").color == 3


def test_rows_of_the_store_belong_to_a_contender_by_name_and_place():
    row, elsewhere = ("fra", "a", "p", "d", "m"), ("sin", "a", "p", "d", "other model")
    assert Contender("a", 0).is_of(row)
    assert Contender("a", 0).is_of(elsewhere)
    assert Contender("a", 0, "sin").is_of(elsewhere)
    assert not Contender("a", 0, "sin").is_of(row)
    assert not Contender("b", 0).is_of(row)


def test_an_added_contender_takes_the_first_free_letter_and_no_other_changes():
    three = first_contenders([CEREBRAS, GROQ, ROUTER])
    two = toggled(three, GROQ)
    assert [(one.name, one.letter) for one in two] == [(CEREBRAS.name, "A"), (ROUTER.name, "C")]
    again = toggled(two, SPARK)
    assert [(one.name, one.letter) for one in again][-1] == (SPARK.name, "B")


def test_a_seventh_is_refused():
    six = first_contenders(FLEET)
    assert len(six) == MOST
    with pytest.raises(ValueError, match="at most 6"):
        toggled(six, FLEET[7])
    assert len(toggled(six, CEREBRAS)) == MOST - 1


def test_groups_are_models_that_several_serve():
    found = groups(FLEET)
    assert {name: len(members) for name, members in found.items()} == {"gpt-oss-120b": 3, "claude-opus": 2}

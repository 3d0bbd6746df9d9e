"""What differs between two configurations, and the line of a problem."""

from dataclasses import replace

import pytest

from probes.budget.cap import Budget
from probes.config.changes import (
    EndpointChanges,
    endpoint_changes,
    problem_line,
    problem_words,
    restart_needed,
    settings_changed,
)
from probes.config.load import load
from probes.config.screen import FixedOption
from probes.config_error import Problem
from tests.samples import endpoint

A, B, C = (endpoint(name=name) for name in "abc")

TEXT = """\
[store]
url = "sqlite:///x.db"
retention = 3

[probe]
timeout.total = "1s"
timeout = { connect = "1s" }

[[endpoint]]
name = "a"
'model' = "m"

[[endpoint]] # the second
name = "b"
interval = "soon"
  [endpoint.price]
  input = -1

[[race.prompt]]
name = "p"
"""


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ([A, B], [A, B], EndpointChanges()),
        ([A, B], [B, A], EndpointChanges()),
        ([A], [A, B], EndpointChanges(added=("b",))),
        ([A, B], [B], EndpointChanges(removed=("a",))),
        ([A, B], [A, replace(B, interval=1.0)], EndpointChanges(changed=("b",))),
        ([A, B], [A, replace(B, name="c")], EndpointChanges(added=("c",), removed=("b",))),
        ([A, B], [A, replace(B, enabled=False)], EndpointChanges(removed=("b",))),
        ([A, replace(B, enabled=False)], [A, B, C], EndpointChanges(added=("b", "c"))),
        ([replace(A, enabled=False)], [replace(A, enabled=False, model="x")], EndpointChanges()),
    ],
)
def test_endpoints_come_go_and_change(before, after, changes):
    assert endpoint_changes(before, after) == changes


def test_what_takes_a_restart_is_told_from_what_does_not(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[[endpoint]]\nname = "a"\nprovider = "groq"\nmodel = "m"\n')
    one = load(path)
    assert restart_needed(one, one) == settings_changed(one, one) == ()
    moved = replace(one, store_url="sqlite:///secret@x.db", vantage="x", models_every=None)
    assert restart_needed(one, moved) == ("[store] url", "[store] vantage", "[control] models")
    assert settings_changed(one, moved) == ()
    fixed = {"theme": FixedOption("inftop-light", f"{path}:7")}
    assert settings_changed(one, replace(one, budget=Budget(1, 1), screen=fixed)) == ("[budget]", "[screen]")
    other = replace(one, screen={"theme": FixedOption("inftop-light", f"{path}:9")})
    assert settings_changed(replace(one, screen=fixed), other) == (), "a line that moved is no change"


@pytest.mark.parametrize(
    ("where", "what", "line"),
    [
        ("store.url", "must be", 2),
        ("store.nothing", "must be", 1),
        ("nothing", "must be", None),
        ("probe.timeout.total", "must be", 6),
        ("probe.timeout.connect", "must be", 7),
        ('endpoint[1] "a": model', "must be", 11),
        ('endpoint[2] "b": interval', "must be", 15),
        ('endpoint[2] "b": price.input', "must be", 17),
        ('endpoint[2] "b"', "unknown key 'intervall'; did you mean 'interval'?", 13),
        ('endpoint[1] "a"', "missing key 'provider'", 9),
        ('endpoint[2] "x: y"', "missing key 'provider'", 13),
        ("race.prompt[1]: name", "is missing", 20),
        ("", "unknown key 'stores'; did you mean 'store'?", None),
        ("", "unknown key 'store.retention'", 3),
        ("", "line 7: not TOML: Expected '='", 7),
        ("endpoint", "2 endpoints are named 'a'", None),
    ],
)
def test_the_line_of_a_problem_is_its_key_s_or_that_of_what_is_around_it(where, what, line):
    assert problem_line(Problem("config.toml", where, what), TEXT) == line


def test_a_problem_in_words_begins_with_its_line_and_counts_the_others():
    problems = (Problem("f", "store.url", "must be a URL"), Problem("f", "x", "y"), Problem("f", "z", "y"))
    assert problem_words(problems, TEXT) == "line 2: store.url: must be a URL (and 2 more)"
    assert problem_words((Problem("f", "", "line 7: not TOML: x"),), TEXT) == "line 7: not TOML: x"
    assert problem_words((Problem("f", "", "cannot be read: No such file"),), "") == "cannot be read: No such file"

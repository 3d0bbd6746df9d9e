"""Differences between the lanes of a race: all that is not asked of them alike is told, and nothing else."""

import pytest

from probes.endpoint import Quirks
from probes.engine.race.lanes import differences
from probes.route import Route
from tests.samples import endpoint

LONG = "Answer briefly, as one who has little time and many letters to write"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"model": "other", "provider": "other", "price": None}, None),
        ({"temperature": None}, "temperature: a 0, b the provider's own"),
        ({"quirks": Quirks(temperature=False)}, "temperature: a 0, b the provider's own"),
        ({"reasoning": "low"}, "reasoning: a default, b low"),
        ({"base_url": "wss://h/v1"}, "connection: a HTTP, b WebSocket"),
        ({"body": {"seed": 1}}, "extra fields: a none, b seed 1"),
        ({"route": Route("none")}, None),
        ({"route": Route("socks5://p:1080")}, "way: a direct, b proxy socks5://p:1080"),
        ({"route": Route(socket="/run/x.sock")}, "way: a direct, b a socket on this machine"),
        ({"system": "Be brief."}, "system prompt: a none, b 'Be brief.'"),
    ],
)
def test_what_is_not_asked_alike_is_told(fields, told):
    found = differences([endpoint(name="a"), endpoint(**{"name": "b", **fields})])
    assert found == (() if told is None else (told,))


def test_system_prompts_that_differ_behind_what_is_shown_differ():
    found = differences([endpoint(name="a", system=LONG), endpoint(name="b", system=f"{LONG}.")])
    assert len(found) == 1
    assert found[0].startswith("system prompt: a 'Answer briefly, as one who has")

"""Notifiers that are killed while they deliver: nothing is lost, and what is doubled is known by its key."""

import pytest

from tests.notify.killing import killing

pytestmark = pytest.mark.slow

KILLS = 12


async def test_killed_notifiers_lose_nothing_and_double_at_most_one_message_a_kill(store, tmp_path):
    async with killing(store, tmp_path, seed=5) as notifiers:
        for _ in range(KILLS):
            await notifiers.kill()
        found = await notifiers.finish()
    for name, tally in found.items():
        assert (tally.lost, tally.disordered) == (0, 0), name
        assert tally.doubled <= KILLS
        assert tally.queued >= 3
        if name != "command":
            assert tally.keys == tally.queued

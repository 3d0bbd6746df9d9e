"""Storms on the screen: whatever is pressed, clicked, pasted and resized, it goes on and answers."""

import pytest

from tests.chaos.storm import PLACES, Storm, fewest, fill, shrunk, storm

STEPS = 250
LONG = 3_000


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("storms") / "filled"
    fill(folder)
    return folder


async def weather(place: str, steps: Storm, seed: int, filled) -> None:
    broken = await PLACES[place](steps, seed, filled)
    if broken is not None:
        few = await fewest(place, steps, seed, filled, broken)
        pytest.fail(f"python -m tests.chaos.storm {place} {seed} {len(steps)}: {few}\n{broken}")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("place", PLACES)
async def test_a_storm_breaks_nothing(place, seed, filled):
    await weather(place, storm(seed, STEPS), seed, filled)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 116))
@pytest.mark.parametrize("place", PLACES)
async def test_a_long_storm_breaks_nothing(place, seed, filled):
    await weather(place, storm(seed, LONG), seed, filled)


async def test_a_storm_that_fails_is_reduced_to_what_it_takes():
    whole = storm(3, 500)
    wanted = [whole[40], whole[41], whole[333]]

    async def fails(steps: Storm) -> bool:
        left = iter(steps)
        return all(one in left for one in wanted)

    assert await shrunk(whole, fails) == wanted

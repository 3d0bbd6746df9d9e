"""Samples of a race as CSV: those of every heat and lane, in the columns of ``inftop export``."""

from collections.abc import Iterator

from probes.exports.csv_text import csv_cell
from probes.race.race import Race
from probes.sample import COLUMNS


def samples_csv(race: Race) -> Iterator[str]:
    """A header, then a line per lane of each heat: race, heat, lane, place at the finish, then the sample."""
    yield ",".join(("race", "heat", "lane", "place", *COLUMNS)) + "\n"
    for heat in race.heats:
        for lane in heat.lanes:
            cells = (race.number, heat.number, lane.lane, lane.place, *lane.sample.to_json().values())
            yield ",".join(map(csv_cell, cells)) + "\n"

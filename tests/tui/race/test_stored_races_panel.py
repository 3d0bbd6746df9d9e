"""The list of kept races: a table where it fits, else each race's verdict below it, never cut."""

from probes.store.races import RaceSummary
from tui.race.stored_races_panel import list_entries

TWO = RaceSummary(
    3,
    1_800_000_000_000,
    ("cerebras/gpt-oss-120b", "groq/gpt-oss-120b"),
    "Write.",
    "story",
    5,
    "cerebras/gpt-oss-120b",
    "cerebras/gpt-oss-120b is 3.1× faster in characters/s (2.9–3.6, won 5 of 5)",
    None,
    simulated=False,
)
FOUR = RaceSummary(
    12,
    1_800_000_100_000,
    (*TWO.lanes, "openrouter/gpt-oss-120b", "fireworks/gpt-oss-120b"),
    "Write.",
    None,
    1,
    None,
    "open in characters/s between cerebras/gpt-oss-120b and groq/gpt-oss-120b: one heat",
    "the day's budget is spent",
    simulated=False,
)


def texts(races, width):
    return [["".join(text for text, _ in row).rstrip() for row in rows] for rows in list_entries(races, width)]


def test_where_all_fits_a_race_is_a_row_of_a_table():
    rows = [one for (one,) in texts([TWO, FOUR], 260)]
    assert "★ cerebras/gpt-oss-120b : groq/gpt-oss-120b" in rows[0]
    assert rows[0].index("story, 5 heats") == rows[1].index("own prompt, 1 heat")
    assert rows[0].index("cerebras/gpt-oss-120b is 3.1×") == rows[1].index("open in characters/s")
    assert rows[1].endswith("one heat; the day's budget is spent")


def test_at_eighty_columns_the_verdict_stands_whole_below_the_race():
    rows = texts([TWO, FOUR], 78)
    assert "★ cerebras/gpt-oss-120b : groq/gpt-oss-120b" in rows[0][0]
    assert rows[0][1:] == [
        "   cerebras/gpt-oss-120b is 3.1× faster in characters/s (2.9–3.6, won 5 of 5)",
        "   · story, 5 heats",
    ]
    assert all(len(row) <= 78 for race in rows for row in race)
    for race, shown in zip((TWO, FOUR), rows, strict=True):
        said = " ".join(" ".join(shown).split())
        assert all(name in said for name in race.lanes)
        assert race.words in said
    assert "own prompt, 1 heat" in rows[1][0]

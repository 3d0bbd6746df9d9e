"""Rows: every width is kept, whatever the numbers."""

from dataclasses import replace

import pytest
from msgspec import structs
from rich.cells import cell_len

from probes.feed.messages import MonitorStatus
from probes.outcome import Outcome
from probes.rate_limits.headers import Bucket
from tests.samples import sample
from tests.tui import fabric
from tests.tui.fabric import HABITS, HOUR, NOW
from tui.dashboard.columns import columns
from tui.dashboard.row import drawn_state, head, row, scales
from tui.state.fleet import FleetState
from tui.state.rate_limits import LimitLevel
from tui.state.served_by import ServingChange
from tui.state.view import Figures, LeftOut
from tui.state.view_options import ViewOptions
from tui.time.period import LENGTHS, Period


@pytest.fixture(scope="module")
def board():
    made = FleetState(now=NOW)
    made.apply(fabric.hello(), NOW)
    made.apply(fabric.frame(fabric.day(hours=7)), NOW)
    return made.dashboard(ViewOptions(Period(LENGTHS["6 h"])), 16, NOW)


def text(lines):
    return ["".join(piece for piece, _ in pieces) for pieces in lines]


@pytest.mark.parametrize("width", [64, 80, 100, 120, 160, 200, 250])
@pytest.mark.parametrize("tall", [False, True])
def test_every_row_and_the_head_are_as_wide_as_their_columns(board, width, tall):
    parts = columns(width, 21)
    for view in board.endpoints:
        drawn = text(row(view, parts, scales(board.endpoints), board, tall=tall))
        assert [cell_len(one) for one in drawn] == [parts.width] * (2 if tall else 1)
    assert cell_len(head(parts, scales(board.endpoints))) == parts.width


def test_an_endpoint_that_is_backed_off_for_flooding_says_so_under_its_state(board):
    view = board.endpoints[0]
    flooding = replace(
        view, state="failing", monitor=structs.replace(view.monitor, blocked_until=NOW + 30_000, failing=True)
    )
    for width, words in ((160, "backed off"), (64, "waits")):
        parts = columns(width, 21)
        state, below = text(row(flooding, parts, scales([view]), board, tall=True))
        assert "failing" in state
        assert words in below
        assert drawn_state(flooding, parts, board) != drawn_state(replace(flooding, monitor=view.monitor), parts, board)


def test_nothing_moves_sideways_when_numbers_grow(board):
    parts = columns(160, 21)
    view = board.endpoints[0]
    large = replace(
        view,
        figures=replace(
            view.figures, ttft_last_ms=59_999.0, ttft_p50_ms=None, tokens_per_s_last=12_345.0, failed_count=12_345,
            error_rate=0.5, hit_count=9_999,
        ),
        headroom=1.0,
    )  # fmt: skip
    one, other = (text(row(each, parts, scales([view]), board, tall=False))[0] for each in (view, large))
    assert len(one) == len(other)
    assert "59,999" in other
    assert "12,345" in other
    assert one.index("▸") == other.index("▸")


def test_state_is_a_word_and_a_glyph(board):
    parts = columns(120, 21)
    shown = {
        view.name: text(row(view, parts, scales(board.endpoints), board, tall=False))[0] for view in board.endpoints
    }
    assert "● ok" in shown["cerebras/gpt-oss-120b"]
    assert "◐ slow" in shown["openrouter"]
    assert "✕ failing" in shown["inception/mercury"]
    assert "◷ limited" in shown["moonshot/kimi-turbo"]
    assert "■ paused" in shown["local/ollama"]
    assert "×××" in shown["inception/mercury"]
    assert "46.5 %" in shown["inception/mercury"]


def test_an_endpoint_without_a_key_says_what_to_do(board):
    view = next(one for one in board.endpoints if one.state == "no key")
    line = text(row(view, columns(80, 21), scales(board.endpoints), board, tall=False))[0]
    assert "set $MISTRAL_API_KEY, or: inftop keys set" in line


def test_who_served_is_shown_only_where_the_whole_fits(board):
    view = next(one for one in board.endpoints if one.name == "openrouter")
    assert "openrouter → fireworks" in text(row(view, columns(160, 24), scales([view]), board, tall=False))[0]
    assert "→" not in text(row(view, columns(80, 10), scales([view]), board, tall=False))[0]
    assert "▎→ fireworks · " in text(row(view, columns(160, 21), scales([view]), board, tall=True))[1]


def test_the_head_prints_the_scales_of_the_columns(board):
    wide = head(columns(200, 21), scales(board.endpoints))
    assert "TTFT ms   0 – 1,000" in wide
    assert "tokens/s   0 – 2,500" in wide
    assert "each its own" in head(columns(200, 21), None)


def test_one_outlier_does_not_flatten_everybody():
    made = FleetState(now=NOW)
    made.apply(fabric.hello(), NOW)
    name = HABITS[0].name
    usual = [sample(endpoint=name, connection="warm", started_at=NOW - n * 60_000, ttft_ms=100.0) for n in range(60)]
    made.apply(fabric.frame([*usual, structs.replace(usual[0], started_at=NOW - 30_000, ttft_ms=20_000.0)]), NOW)
    board = made.dashboard(ViewOptions(Period(LENGTHS["1 h"])), 16, NOW)
    assert scales(board.endpoints).ttft_ms == 100.0


def limited(view, **changes):
    """The view with two rate-limit buckets, and what else a test wants."""
    levels = (
        LimitLevel(Bucket("tokens", "minute", "output", 100.0, 40.0)),
        LimitLevel(Bucket("requests", "day", None, 9.0, 8.0)),
    )
    return replace(view, levels=levels, headroom=0.4, reset_at=NOW + 41_000, **changes)


def test_the_tightest_bucket_is_named_where_there_is_room(board):
    view = limited(board.endpoints[0])
    wide, narrow = columns(250, 21), columns(160, 21)
    assert "40 %  out tok/min      41 s" in text(row(view, wide, scales([view]), board, tall=False))[0]
    assert "tok/min" not in text(row(view, narrow, scales([view]), board, tall=False))[0]
    first, second = text(row(view, narrow, scales([view]), board, tall=True))
    assert second.endswith("out tok/min")
    assert first.endswith("40 %      41 s")


def test_a_forecast_stands_in_place_of_the_reset_but_not_of_a_back_off(board):
    view = limited(board.endpoints[0], empty_at=NOW + 240_000)
    parts = columns(160, 21)

    def end(one, at=NOW):
        return text(row(one, parts, scales([one]), replace(board, at=at), tall=False))[0][-10:]

    assert end(view) == "  empty 4m"
    assert end(replace(view, monitor=MonitorStatus(view.name, blocked_until=NOW + 41_000))) == "      41 s"
    assert end(view, NOW + 240_000) == "         –"
    longest = limited(board.endpoints[0], empty_at=NOW + 59 * 60_000)
    assert end(longest) == " empty 59m"


def test_a_hit_is_shown_with_its_bucket_on_the_second_line(board):
    view = next(one for one in board.endpoints if one.figures.hit_count)
    for parts in (columns(160, 21), columns(250, 21)):
        lines = text(row(limited(view, hit_by="tokens per minute"), parts, scales([view]), board, tall=True))
        assert "hit tok/min" in lines[1]
        assert cell_len(lines[0]) == cell_len(lines[1])
        without = text(
            row(limited(board.endpoints[0], hit_by="tokens per minute"), parts, scales([view]), board, tall=True)
        )
        assert "hit" not in without[1]
    assert (
        "hit"
        not in text(row(limited(view, hit_by="tokens per minute"), columns(80, 21), scales([view]), board, tall=True))[
            1
        ]
    )


def test_another_tier_is_shown_in_words_or_with_a_mark_in_the_style_of_a_warning(board):
    usual = board.endpoints[0]
    view = replace(usual, facts=structs.replace(usual.facts, tier="fast"), other_tier="standard")
    wide, narrow = (
        row(view, replace(columns(160, 21), name=width), scales([view]), board, tall=True) for width in (40, 21)
    )
    assert ("cerebras/gpt-oss-120b  ", "name") in wide[0]
    assert any(piece.startswith("fast → standard") and style == "warning" for piece, style in wide[0])
    assert ("≠", "warning") in narrow[0]
    assert "fast → standard" in text(narrow)[1]
    assert [cell_len(one) for one in text(narrow)] == [columns(160, 21).width] * 2
    assert text(row(view, replace(columns(160, 21), name=24), scales([view]), board, tall=False))[0][2:27].endswith(
        "120b ≠  "
    )
    assert "≠" not in text(row(usual, columns(160, 21), scales([view]), board, tall=False))[0]


def test_a_served_change_is_marked_in_its_slice_of_the_ttft(board):
    usual, parts = board.endpoints[0], columns(160, 21)
    ten = board.grid.start_ms + 10 * board.grid.length_ms
    moments = tuple(
        ServingChange(at, "tier", "fast", "standard") for at in (ten, ten + 1, board.grid.start_ms - 1, NOW + HOUR)
    )
    view = replace(usual, changes=moments)
    pieces = row(view, parts, scales([view]), board, tall=False)[0]
    assert [piece for piece in pieces if "◆" in piece[0]] == [("◆", "figure")]
    line = "".join(piece for piece, _ in pieces)
    begin = 2 + parts.name + 1 + parts.state + parts.gap
    assert line.index("◆") - begin == parts.spark - board.grid.count + 10
    assert drawn_state(view, parts, board) != drawn_state(usual, parts, board)


def test_a_hostile_name_of_a_server_stays_text(board):
    usual = next(one for one in board.endpoints if one.name == "openrouter")
    view = replace(usual, served="\x1b[31mred\x07\n[bold]")
    line = text(row(view, columns(200, 30), scales([view]), board, tall=False))[0]
    assert "red [bold]" in line
    assert line.isprintable()


def test_what_a_row_shows_changes_only_with_what_is_drawn(board):
    parts = columns(120, 21)
    view = board.endpoints[0]
    assert drawn_state(view, parts, board) == drawn_state(replace(view), parts, board)
    assert drawn_state(view, parts, board) != drawn_state(view, parts, replace(board, at=NOW + 1000))
    assert drawn_state(view, parts, board) != drawn_state(view, parts, replace(board, selected=None))
    assert drawn_state(view, parts, board) != drawn_state(replace(view, last_failure=Outcome.CUT), parts, board)


def test_of_warm_and_cold_in_turn_the_second_line_says_which_one_is_shown(board):
    view = board.endpoints[0]
    facts = structs.replace(view.facts, name="one", model="one", provider="one", connection="both")
    lines = text(row(replace(view, facts=facts), columns(160, 21), scales([view]), board, tall=True))
    assert "warm (cold apart) " in lines[1]


@pytest.mark.parametrize(("width", "words"), [(160, "○ 227 cold"), (100, "○ 227 cold"), (64, "○ 227")])
def test_a_sample_in_no_figure_is_shown_marked_and_dimmed_where_there_is_no_other(board, width, words):
    view = board.endpoints[0]
    parts = columns(width, 21)
    shown = replace(
        view, figures=Figures(covered=(True,), measured=0, left_out=LeftOut(227.0, 41.0, "cold", view.last_at or 0))
    )
    pieces = row(shown, parts, scales([view]), board, tall=False)[0]
    (style,) = {style for text, style in pieces if words in text}
    assert style == "usual"
    assert [style for text, style in pieces if text.strip() == "41"] == ["usual"]
    assert cell_len("".join(text for text, _ in pieces)) == parts.width

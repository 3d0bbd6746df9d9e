"""StatusLine: the store's state, today's cost, samples left out of the figures, and this machine's accuracy."""

from typing import Final

from textual.content import Content

from probes.feed.messages import EngineStatus
from probes.store.status import StoreState, StoreStatus
from probes.text import line
from tui.state.attribution import headline
from tui.state.view import Dashboard, EngineLink
from tui.style.format import compact, number, since, usd
from tui.style.palette import LOOKS
from tui.widgets.one_line import LinePart, OneLine

STORE_WORDS: Final[dict[StoreState, str]] = {
    "ok": "store ok",
    "opening": "opening the store",
    "locked": "store locked",
    "full": "disk full",
    "read_only": "store read-only",
    "foreign": "store not ours",
    "newer": "store too new",
    "corrupt": "store damaged",
    "denied": "store denied",
    "failed": "store failed",
}
"""The words for a store's state: short, so that the reason fits beside them on 80 columns."""

ON_THE_WAY: Final = 50
"""Samples that a working store may have before it: they are committed within 100 ms, and are no news."""


class StatusLine(OneLine):
    """The line above the keys."""

    def show(self, board: Dashboard, now: int) -> None:
        """Draw it; ``now`` is the present, whatever the dashboard shows."""
        engine = board.engine
        left = _engine_link(board.link)
        if engine is not None:
            left += [*_notice(engine), *_store(engine.store), *_budget(engine)]
        elif not left:
            left = [LinePart(Content.styled("no word from the engine yet", "$text-muted"))]
        left = [*_attribution(board), *_own_faults(board), *left, *_untrusted(board), *_buffered(board)]
        self.parts(left, [*_accuracy(board, now), *([] if engine is None else _lag(engine))])


def _attribution(board: Dashboard) -> list[LinePart]:
    """What the failures of now are attributed to; empty where nothing fails."""
    found = board.attribution
    if found is None:
        return []
    style = "bold $error" if found.scope == "my network" else "bold $warning" if found.scope else "$warning"
    return [LinePart(Content.styled(line(headline(found), 120), style), 0 if found.scope == "my network" else 1)]


def _own_faults(board: Dashboard) -> list[LinePart]:
    """The window's samples that inftop itself spoilt: they count against no endpoint."""
    if not board.own_faults:
        return []
    words = f"{number(board.own_faults)} own fault{'' if board.own_faults == 1 else 's'} {LOOKS['spoilt'].glyph}"
    return [LinePart(Content.styled(words, "$warning"), 1)]


def _untrusted(board: Dashboard) -> list[LinePart]:
    """The window's samples that are in no figure, since this machine delayed the engine beyond the error bound."""
    if not board.untrusted:
        return []
    return [LinePart(Content.styled(f"{number(board.untrusted)} untrusted ○", "$warning"), 3)]


def _buffered(board: Dashboard) -> list[LinePart]:
    """The window's samples whose TTFT and tokens/s are in no figure, since something on the way held them back."""
    if not board.buffered:
        return []
    return [LinePart(Content.styled(f"{number(board.buffered)} buffered", "$warning"), 3)]


def _accuracy(board: Dashboard, now: int) -> list[LinePart]:
    """How accurate this machine was found to be, and when; or how to find out."""
    found = board.certificate
    if found is None:
        return [LinePart(Content.styled("accuracy: run inftop selftest", "$text-muted"), 6)]
    style = "$text-muted" if found.can_measure else "bold $warning"
    words = found.words if found.can_measure else "this machine could not measure"
    return [
        LinePart(Content.styled(words, style), 4),
        LinePart(Content.styled(f"measured {since(found.measured_at, now)} ago", "$text-muted"), 5),
    ]


def _engine_link(link: EngineLink) -> list[LinePart]:
    """Why the engine ended, who records instead, how often it was restarted, how many of its lines are unreadable."""
    parts = []
    if link.phase == "lost" and link.reason:
        parts.append(LinePart(Content.styled(line(link.reason, 200), "$error"), 0))
    if link.phase == "attached" and link.holder:
        parts.append(LinePart(Content(f"recorder: {line(link.holder, 100)}"), 3))
    if link.restarts:
        parts.append(LinePart(Content.styled(f"restarted {link.restarts}×", "$warning"), 4))
    if link.bad_lines:
        parts.append(LinePart(Content.styled(f"{number(link.bad_lines)} unreadable lines", "$warning"), 2))
    return parts


def _notice(engine: EngineStatus) -> list[LinePart]:
    """That the machine's clock was set, while that is news."""
    return [] if engine.notice is None else [LinePart(Content.styled(line(engine.notice, 120), "$warning"), 1)]


def _store(store: StoreStatus) -> list[LinePart]:
    words = STORE_WORDS[store.state]
    if store.detail and store.state != "ok":
        words = f"{words}: {line(store.detail, 120)}"
    style = "$text-muted" if store.state in ("ok", "opening") else "bold $error"
    parts = [LinePart(Content.styled(words, style), 0)]
    if store.notice:
        parts.append(LinePart(Content.styled(line(store.notice, 120), "bold $warning"), 1))
    parts.append(LinePart(Content(f"{number(store.stored)} samples"), 1 if store.state == "ok" else 2))
    if store.waiting > ON_THE_WAY or (store.waiting and store.state != "ok"):
        parts.append(LinePart(Content.styled(f"{number(store.waiting)} waiting", "$warning"), 1))
    if store.dropped:
        parts.append(LinePart(Content.styled(f"{number(store.dropped)} lost", "bold $error"), 1))
    return parts


def _budget(engine: EngineStatus) -> list[LinePart]:
    money = usd(engine.usd_today) + ("" if engine.usd_cap is None else f" / {usd(engine.usd_cap)}")
    tokens = compact(engine.tokens_today)
    tokens += "" if engine.tokens_cap is None else f" / {compact(engine.tokens_cap)}"
    if engine.over_budget:
        return [LinePart(Content.styled(f"budget reached: {line(engine.over_budget, 80)}", "bold $warning"), 1)]
    return [LinePart(Content(f"{money} today"), 2), LinePart(Content.styled(f"{tokens} tokens", "$text-muted"), 3)]


def _lag(engine: EngineStatus) -> list[LinePart]:
    """The lag of the engine's event loop: by how much a time may be wrong at worst."""
    if engine.loop_lag_ms is None:
        return []
    style = "$warning" if engine.loop_lag_ms > 20 else "$text-muted"
    return [LinePart(Content.styled(f"engine lag {engine.loop_lag_ms:.1f} ms", style), 4)]

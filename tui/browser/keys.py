"""Which keys work in a browser: those that look; none that spends money, writes a file, or acts for others."""

from collections.abc import Mapping
from typing import Final

from tui.endpoint.keys import PAGES as ENDPOINT_PAGES
from tui.keys.keymap import KeyTable

PAGES: Final = frozenset(
    {
        "Dashboard",
        "Endpoint",
        "Sample",
        "Incidents",
        "Compare",
        "Compare: add",
        "Copy",
        "Jump",
        "Options",
        "Help",
    }
)
"""The pages that are opened there."""

LOOKING: Final = frozenset({
    "answer", "back", "before", "compare", "compare.add", "copy", "crosshair.earlier", "crosshair.later",
    "crosshair.off", "date", "detail", "down", "earlier", "endpoint.failures", "endpoint.lane", "endpoint.page",
    *(f"endpoint.page.{number}" for number in range(len(ENDPOINT_PAGES))), "endpoint.page.back", "endpoint.samples",
    "figure", "figure.back", "filter", "filter.clear", "first", "freeze", "group", "help", "help.search", "incidents",
    "incidents.shown", "jump", "last", "later", "list.all", "list.take", "next", "notice.seen", "now", "open",
    "options", "options.before", "options.next", "page.down", "page.up", "palette", "place", "quit", "remove", "scale",
    "sort", "sort.back", "up", "view", "wall", "wall.leave", "window.longer", "window.shorter",
})  # fmt: skip
"""The ids of the keys that work on them. A key is not among them until somebody has thought about it."""

VIEW_ONLY: Final = "This is view only: inftop serve --allow-keys takes keys."
NOT_HERE: Final = "Not in a browser: it sends, writes or spends something. In a terminal: inftop."


def withheld(table: KeyTable, *, allow_keys: bool) -> dict[str, str]:
    """The ids of a page's keys that do nothing in a browser, each with the reason."""
    if not allow_keys:
        return {key.id: VIEW_ONLY for key in table}
    works: Mapping[str, bool] = {key.id: table.page in PAGES and key.id in LOOKING for key in table}
    return {name: NOT_HERE for name, does in works.items() if not does}

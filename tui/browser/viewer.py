"""The viewer: the dashboard on a store, drawn for a browser; `python -m tui.browser.viewer` under `inftop serve`.

It has no engine and takes no lock, reads no configuration and no key, and keeps nothing of what is chosen.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from typing import Final, cast

from textual.driver import Driver
from textual.drivers.web_driver import WebDriver
from textual.events import Resize
from textual.message import Message

from probes.config.screen import Option
from tui.app import InftopApp
from tui.browser.keys import withheld
from tui.browser.viewing import Viewing
from tui.keys.keymap import KeyTable
from tui.sources.source import Source
from tui.sources.viewer import ReadOnlySource
from tui.state.choices import Choices
from tui.state.view_options import DEFAULTS, ScreenOptions, ViewOptions

ENDING_S: Final = 3.0
"""How long it may take to end in order once nobody looks any more."""

LONGEST_LINE: Final = 16 * 1024 * 1024


class BrowserDriver(WebDriver):
    """Textual's driver for browsers, which ends its program when the server has gone: Textual's own would run on."""

    def run_input_thread(self) -> None:
        """Read what the browser sends, until there is no more."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            os.kill(os.getpid(), signal.SIGTERM)  # which Textual's driver ends the program at, in order
            threading.main_thread().join(ENDING_S)
            os._exit(1)

    def process_message(self, message: Message) -> None:
        """Pass on what was typed, but for a terminal's report of its size: the server says that, within bounds."""
        if not isinstance(message, Resize):
            super().process_message(message)


class ViewerApp(InftopApp):
    """The dashboard, of whose keys only those work that look."""

    CSS_PATH = "../app.tcss"

    def __init__(self, source: Source, viewing: Viewing) -> None:
        values = cast("Mapping[Option, str]", viewing.options)
        options = ScreenOptions(
            ViewOptions.of(values),
            values["theme"],
            choices=Choices(values, defaults=DEFAULTS),
            store_url=viewing.store_url,
        )
        super().__init__(source, now=lambda: time.time_ns() // 1_000_000, options=options)
        self._allow_keys = viewing.allow_keys

    def get_driver_class(self) -> type[Driver]:
        """The one for browsers."""
        return BrowserDriver

    def withheld_keys(self, table: KeyTable) -> Mapping[str, str]:
        """All but those that look; without --allow-keys all."""
        return withheld(table, allow_keys=self._allow_keys)


def main() -> None:
    """Show what the first line of standard input says, until the input ends."""
    viewing = Viewing.of_line(_first_line())
    app = ViewerApp(ReadOnlySource(viewing.store_url, viewing.endpoints), viewing)
    app.run()
    sys.exit(app.return_code or 0)


def _first_line() -> bytes:
    """The first line of standard input and not a byte more: the driver reads the rest from the file descriptor."""
    line = bytearray()
    while len(line) < LONGEST_LINE and (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


if __name__ == "__main__":
    main()

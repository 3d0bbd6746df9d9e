"""Asking: what the dashboard asks of the app, as messages."""

from collections.abc import Sequence

from textual.message import Message

from probes.feed.messages import EndpointFacts
from tui.state.view import Dashboard


class WindowChosen(Message):
    """A window that may reach further back than what is loaded."""


class ExportRequested(Message):
    """The shown samples are wanted in a file."""

    def __init__(self, board: Dashboard) -> None:
        super().__init__()
        self.board = board


class RaceRequested(Message):
    """A race is wanted, at first of these endpoints."""

    def __init__(self, lanes: tuple[str, ...]) -> None:
        super().__init__()
        self.lanes = lanes


class EndpointRequested(Message):
    """The selected endpoint's own screen is wanted."""


class CompareRequested(Message):
    """A comparison is wanted, at first of these endpoints."""

    def __init__(self, endpoints: Sequence[EndpointFacts]) -> None:
        super().__init__()
        self.endpoints = endpoints

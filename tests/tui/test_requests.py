"""What pages ask of the app is asked by some page, and answered; and every page is opened by a test."""

from pathlib import Path

import pytest
from textual.message import Message

from tui import requests
from tui.app import InftopApp

ROOT = Path(__file__).parents[2]
REQUESTS = [one for one in vars(requests).values() if isinstance(one, type) and one.__module__ == requests.__name__]
PAGES = sorted(one.parent.name for one in (ROOT / "tui").glob("*/screen.py"))


def texts(folder):
    """The texts of the Python files below a folder."""
    return [one.read_text(encoding="utf-8") for one in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize("request_of_page", REQUESTS)
def test_a_request_is_posted_by_a_page_and_answered_by_the_app(request_of_page):
    assert issubclass(request_of_page, Message)
    name = request_of_page.__name__
    assert request_of_page in InftopApp._decorated_handlers, f"nobody answers: add @on({name}) to tui/app.py"
    assert any(f"post_message({name}(" in text for text in texts("tui")), f"no page posts {name}"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_opened_by_a_test(page):
    opened = any(f"tui.{page}." in text for text in texts("tests/tui"))
    assert opened, f"no test opens tui/{page}/screen.py: add tests/tui/{page}/test_screen.py"

"""The page of commands in docs is the one made of the command line."""

from pathlib import Path

from tui.doc_pages.commands import markdown

DOCS = Path(__file__).parents[3] / "docs" / "commands.md"


def test_the_page_in_docs_is_up_to_date():
    assert DOCS.read_text(encoding="utf-8") == markdown(), "python -m tui.doc_pages.commands > docs/commands.md"

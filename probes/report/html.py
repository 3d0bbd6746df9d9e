"""HTML as text: every word that is not the page's own goes through `esc`, the one function that escapes."""

from collections.abc import Iterable
from html import escape
from typing import Final

from probes.definitions import sections
from probes.format import DASH
from probes.text import line

NAME: Final = 80
"""Characters of a name at most."""


def esc(text: str, limit: int = NAME) -> str:
    """A text as one harmless line, in an element or a quoted attribute: no control character, no mark-up, not too long.

    Escape sequences and marks that turn the direction of writing are taken out (`probes.text.plain`).
    """
    return escape(line(text, limit), quote=True)


def dash(why: str) -> str:
    """A dash for what is not known, and why."""
    return f'<abbr title="{esc(why, 200)}">{DASH}</abbr>'


def term(word: str, shown: str | None = None) -> str:
    """A word with the first sentence of its definition as a tooltip. Raises KeyError for a word without one."""
    return f'<abbr title="{esc(definition(word).partition(". ")[0], 200)}">{esc(shown or word)}</abbr>'


def definition(word: str) -> str:
    """What a word means: its formula, if any, and its text. Raises KeyError for a word without a definition."""
    for section in sections():
        for one in section.definitions:
            if one.word == word:
                return f"{one.formula}. {one.text}" if one.formula else one.text
    raise KeyError(word)


def row(cells: Iterable[str], head: str, kind: str = "l") -> str:
    """A row of a table, which its first cell heads; the cells are HTML, and may begin with ``<td``."""
    others = "".join(one if one.startswith("<td") else f"<td>{one}" for one in cells)
    return f'<tr><th scope=row class="{kind}">{head}{others}'


def table(caption: str, heads: Iterable[str], rows: Iterable[str], label: str) -> str:
    """A table that scrolls sideways where it is wide, also by the keyboard; heads beginning with ``<th`` stay as is."""
    head = "".join(one if one.startswith("<th") else f"<th scope=col>{one}" for one in heads)
    return (
        f'<div class=scroll role=region tabindex=0 aria-label="table: {esc(label)}"><table><caption>{caption}</caption>'
        f"<thead><tr>{head}<tbody>{''.join(rows)}</table></div>"
    )

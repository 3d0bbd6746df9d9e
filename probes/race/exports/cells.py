"""Cells: how many columns of a terminal a text takes."""

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=4096)
def cells(character: str) -> int:
    """0 for what joins the character before it, 2 for wide ones (CJK, emoji), else 1."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\U0001f3fb" <= character <= "\U0001f3ff":
        return 0  # accents, joiners, variation selectors, skin tones
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int) -> str:
    """One line's text in exactly ``width`` columns: cut with an ellipsis, or filled with blanks."""
    if sum(map(cells, text)) > width:
        room, kept = width - 1, ""
        for character in text:
            room -= cells(character)
            if room < 0:
                break
            kept += character
        text = kept + "…"
    return text + " " * (width - sum(map(cells, text)))

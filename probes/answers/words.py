"""Names, and what a provider said, made harmless wherever an answer is text; pure."""

from typing import Final

from probes.text import line

NAME: Final = 60
"""Characters of a name at most."""

SAID: Final = 120
"""Characters of what a provider said at most."""

_SPECIAL: Final = "\"#$%&'()*;<>?[\\]^`{|}~!"

_TWINS: Final = {ord(one): ord(one) + 0xFEE0 for one in _SPECIAL}
"""Each character that means something to a shell, a prompt, tmux, Pango or a bar, and its full-width twin (U+FF01 to
U+FF5E, https://www.unicode.org/charts/PDF/UFF00.pdf), which looks like it and means nothing to any of them."""


def harmless(text: str, limit: int = NAME) -> str:
    """A name, or what a provider said, as one line that no program takes for more than text.

    Control characters and escape sequences are gone, and what is special to any of the programs that show a status line
    is written as its full-width twin: quoting could not do that, since each of them reads quotes in its own way, and
    some read the text twice.
    """
    return line(text, limit).translate(_TWINS)

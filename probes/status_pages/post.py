"""What a provider says of its own trouble: one post on its status page, as a frozen value."""

from typing import Final

from msgspec import Struct

MAINTENANCE: Final = "maintenance"
"""The impact of what was announced beforehand."""

_NO_TROUBLE: Final = frozenset({"none", MAINTENANCE})


class Post(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One post, of the instant ``at`` (ms since the epoch) by the page's own word.

    ``id`` tells it from every other on ``page``, the page's address. ``incident`` is the page's id of what it is
    about. ``status`` and ``impact`` are the page's words: investigating, identified, monitoring, resolved; none, minor,
    major, critical, or `MAINTENANCE`. All text is the provider's, as plain lines.
    """

    page: str
    id: str
    incident: str
    at: int
    status: str
    impact: str
    title: str
    text: str = ""
    components: tuple[str, ...] = ()

    @property
    def is_trouble(self) -> bool:
        """Whether it is about something that is wrong, not about planned work or nothing at all."""
        return self.impact not in _NO_TROUBLE

    @property
    def words(self) -> str:
        """The post in one line."""
        named = f" ({', '.join(self.components)})" if self.components else ""
        said = f": {self.text}" if self.text else ""
        return f"{self.status}: {self.title}{named}{said}"

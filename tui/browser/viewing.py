"""What a viewer is to show: the store, the screen's options and the endpoints; sent as the first line of its input.

Not on its command line, which everybody on the machine can read: the URL of a store may hold a password.
"""

import msgspec

from probes.feed.messages import EndpointFacts


class Viewing(msgspec.Struct, frozen=True):
    """``options`` are the screen's by name, all of them; ``endpoints`` those of the configuration."""

    store_url: str
    options: dict[str, str]
    endpoints: tuple[EndpointFacts, ...] = ()
    allow_keys: bool = False

    @property
    def line(self) -> bytes:
        """The first line of a viewer's input."""
        return msgspec.json.encode(self) + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> "Viewing":
        """What such a line says. Raises msgspec.DecodeError."""
        return msgspec.json.decode(line, type=cls)

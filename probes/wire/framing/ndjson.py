"""NDJSON: one JSON object per line; bytes in, lines out, split on LF only (never at U+2028 and its kin)."""

from probes.events import EVENT_LIMIT


class NdjsonDecoder:
    """An incremental decoder; a line above ``limit`` bytes sets ``overflowed``, one that is not UTF-8 ``not_utf8``.

    Either ends the decoding, so that memory stays bounded. What is left at the end of the body is a line too.
    """

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()
        self.overflowed = False
        self.not_utf8 = False

    def feed(self, data: bytes) -> list[str]:
        """The lines, blank ones left out, that ``data``, the next bytes of the body, completes."""
        if self.overflowed or self.not_utf8:
            return []
        first, *others = data.split(b"\n")
        if not others:
            self._rest += first
            return self._taken([])
        *whole, rest = others
        lines = [bytes(self._rest) + first, *whole]
        self._rest[:] = rest
        return self._taken(lines)

    def close(self) -> list[str]:
        """The line left over at the end of the body, if any."""
        return self.feed(b"\n")

    def _taken(self, lines: list[bytes]) -> list[str]:
        taken: list[str] = []
        for one in lines:
            if len(one) > self._limit:
                self._overflow()
                return taken
            if not one.strip():
                continue
            try:
                taken.append(one.decode())
            except UnicodeDecodeError:
                self.not_utf8 = True
                return taken
        if len(self._rest) > self._limit:
            self._overflow()
        return taken

    def _overflow(self) -> None:
        self.overflowed = True
        self._rest.clear()

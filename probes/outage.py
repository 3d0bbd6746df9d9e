"""Outage: background work of inftop that has ended by itself, and is not running again yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outage:
    """Background work that is down now: since when, when it is begun again (ms since the epoch), and why it ended."""

    part: str
    since: int
    retry_at: int
    why: str

    def short_words(self, now_ms: int) -> str:
        """What is down, and for how long."""
        return f"{self.part} down for {max(0, now_ms - self.since) / 1000:,.0f} s"

    def words(self, now_ms: int) -> str:
        """A sentence for a person."""
        wait_s = max(0, self.retry_at - now_ms) / 1000
        return f"{self.short_words(now_ms)} ({self.why}); begins again in {wait_s:,.0f} s"

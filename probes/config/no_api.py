"""Models that people call fast and nobody can probe: they live inside an editor or an app, without an API."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class NoApi:
    """One such model: where it lives, and the API that serves the same or the nearest model."""

    name: str
    where: str
    nearest: str
    source: str

    @property
    def lines(self) -> tuple[str, str]:
        """What a terminal shows of it."""
        return f"{self.name}: {self.where}", f"  nearest: {self.nearest}"


NO_API: Final = (
    NoApi(
        "Cursor Composer",
        "only inside Cursor and its agent SDK, no inference API",
        "moonshot, kimi-k2.5: what Composer 2 and 2.5 were tuned from",
        "Cursor's announcements, as quoted by learnaiforge.com and djfa.ai",
    ),
    NoApi(
        "Windsurf SWE",
        "only inside Windsurf, served by Cerebras at up to 950 tokens/s",
        "cerebras, zai-glm-4.7: same hardware, an open model of like size",
        "cognition.ai/blog/swe-1-5",
    ),
    NoApi(
        "Le Chat",
        "only in Mistral's app; its Flash Answers began on Cerebras",
        "mistral, mistral-small-latest and up: at its API's speed",
        "general knowledge, unverified: where it runs now, and which model",
    ),
)

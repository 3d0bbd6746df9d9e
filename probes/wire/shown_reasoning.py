"""Shown reasoning: whether a model's provider streams its reasoning as it was generated, by the model's name."""

import re
from functools import lru_cache
from typing import Final

_RAW: Final = re.compile(r"claude-3[-.]7|gpt-oss", re.IGNORECASE)
"""Claude 3.7 is the only Claude whose thinking comes whole (platform.claude.com/docs, extended thinking, differences
across model versions); gpt-oss is open."""

_SUMMARIZED: Final = re.compile(r"claude|gemini|(?:^|[/.])(?:gpt-[5-9]|o[1-9])", re.IGNORECASE)
"""Claude 4 and newer, Gemini ("thought summaries", ai.google.dev, thinking) and OpenAI's own reasoning models
(platform.openai.com/docs, reasoning: raw reasoning is not exposed), whichever gateway passes it on, under whatever
field."""


@lru_cache(maxsize=256)
def raw_reasoning(model: str | None) -> bool | None:
    """Whether the reasoning text of a model is raw (true) or a summary (false); None where its name does not tell."""
    if not model:
        return None
    if _RAW.search(model):
        return True
    return False if _SUMMARIZED.search(model) else None

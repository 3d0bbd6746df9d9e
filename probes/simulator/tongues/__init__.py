"""The tongues of the simulator: one module for each wire format, chosen by the path of a request."""

import re
from typing import Final

from probes.simulator.tongues import anthropic, gemini, ollama, openai_chat, openai_responses
from probes.simulator.tongues.tongue import Tongue

_PATHS: Final = (
    (re.compile("/(?:.+/)?chat/completions"), openai_chat.TONGUE),
    (re.compile("/(?:.+/)?responses"), openai_responses.TONGUE),
    (re.compile("/(?:.+/)?messages"), anthropic.TONGUE),
    (gemini.PATH, gemini.TONGUE),
    (re.compile("/api/chat"), ollama.TONGUE),
)
"""Below whatever a base URL ends with: ``/v1``, Groq's ``/openai/v1``, Fireworks' ``/inference/v1``, nothing."""


def tongue_at(path: str) -> Tongue | None:
    """The tongue that is spoken at a path (without its query); None where nothing is."""
    return next((tongue for pattern, tongue in _PATHS if pattern.fullmatch(path)), None)

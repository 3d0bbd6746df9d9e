"""The dialects of the simulator: one module for each wire format, chosen by the path of a request and its transport."""

import re
from typing import Final

from probes.simulator.dialects import (
    anthropic,
    bedrock,
    gemini,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    openai_responses_ws,
)
from probes.simulator.dialects.dialect import Tongue
from probes.simulator.request import Request

_PATHS: Final = (
    (re.compile("/(?:.+/)?(?:chat/completions|invocations)"), openai_chat.TONGUE),
    (re.compile("/(?:.+/)?completions"), openai_completions.TONGUE),
    (re.compile("/(?:.+/)?responses"), openai_responses.TONGUE),
    (re.compile("/(?:.+/)?messages"), anthropic.TONGUE),
    (gemini.PATH, gemini.TONGUE),
    (re.compile("/api/chat"), ollama.TONGUE),
    (bedrock.PATH, bedrock.TONGUE),
)
"""Below whatever a base URL ends with: ``/v1``, Groq's ``/openai/v1``, Fireworks' ``/inference/v1``, nothing;
``invocations`` are Databricks'."""

_SOCKET_PATHS: Final = ((re.compile("/(?:.+/)?responses"), openai_responses_ws.TONGUE),)


def tongue_of(request: Request) -> Tongue | None:
    """The tongue that is spoken where a request, an upgrade or a message goes; None where nothing is."""
    over_socket = request.upgrade or request.message
    if not over_socket and request.method != "POST":
        return None
    path = request.path.partition("?")[0]
    paths = _SOCKET_PATHS if over_socket else _PATHS
    return next((tongue for pattern, tongue in paths if pattern.fullmatch(path)), None)

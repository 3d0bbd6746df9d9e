"""OpenAI Responses over a WebSocket: the events of the HTTP tongue, a message each (`providers.md` §3)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from probes.simulator.dialects.dialect import SimulatedDialect, bearer, compact
from probes.simulator.dialects.openai_chat import complaint, refused
from probes.simulator.dialects.openai_responses import Responses, ask_of
from probes.simulator.request import Ask, Request, body_of
from probes.simulator.script import Act, EndOfResponse


class ResponsesMessages(Responses):
    """One answer's messages."""

    def acts(self) -> Iterator[Act]:
        """The events and the end. Headers came with the upgrade, and what keeps a socket alive is no message."""
        yield from self.numbered(compact)
        yield EndOfResponse(self.course.end_ms)


def _hear(request: Request) -> Ask:
    body = body_of(request.body)
    if body.get("type") != "response.create":
        raise ValueError("Invalid value for 'type': expected 'response.create'.")
    return replace(ask_of(body), stream=True)  # the message has no such field


TONGUE: Final = SimulatedDialect(
    re.compile("/(?:.+/)?responses"), _hear, bearer, ResponsesMessages, refused, complaint, over_socket=True
)

"""OpenAI Responses over a WebSocket: the events of the HTTP tongue, a message each (`providers.md` §3)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from probes.simulator.dialects.dialect import SimulatedDialect, bearer, compact
from probes.simulator.dialects.openai_chat import error_response, rate_limit_response
from probes.simulator.dialects.openai_responses import ResponsesAnswer, ask_of
from probes.simulator.request import Ask, Request, body_of
from probes.simulator.script import Act, EndOfResponse


class ResponsesSocketAnswer(ResponsesAnswer):
    """One answer's messages."""

    def acts(self) -> Iterator[Act]:
        """The events and the end. Headers came with the upgrade, and what keeps a socket alive is no message."""
        yield from self.numbered(compact)
        yield EndOfResponse(self.course.end_ms)


def _parse_request(request: Request) -> Ask:
    body = body_of(request.body)
    if body.get("type") != "response.create":
        raise ValueError("Invalid value for 'type': expected 'response.create'.")
    return replace(ask_of(body), stream=True)  # the message has no such field


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=re.compile("/(?:.+/)?responses"),
    parse_request=_parse_request,
    key=bearer,
    answer=ResponsesSocketAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
    over_socket=True,
)

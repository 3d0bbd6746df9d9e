"""OpenAI Responses over a WebSocket: the events of the HTTP dialect, a message each.

By developers.openai.com/api/docs/guides/websocket-mode.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from probes.simulator.dialects.dialect import SimulatedDialect, bearer, compact
from probes.simulator.dialects.openai_chat import error_response, rate_limit_response
from probes.simulator.dialects.openai_responses import ResponsesAnswer, parse_body
from probes.simulator.request import AnswerRequest, Request, json_body
from probes.simulator.script import Act, EndOfResponse


class ResponsesSocketAnswer(ResponsesAnswer):
    """One answer's messages."""

    def acts(self) -> Iterator[Act]:
        """The events and the end. The headers were sent with the upgrade, and no message keeps a socket alive."""
        yield from self.numbered(compact)
        yield EndOfResponse(self.plan.end_ms)


def _parse_request(request: Request) -> AnswerRequest:
    body = json_body(request.body)
    if body.get("type") != "response.create":
        raise ValueError("Invalid value for 'type': expected 'response.create'.")
    return replace(parse_body(body), stream=True)  # the message has no such field


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=re.compile("/(?:.+/)?responses"),
    parse_request=_parse_request,
    key=bearer,
    answer=ResponsesSocketAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
    over_socket=True,
)

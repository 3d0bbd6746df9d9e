"""What one probe counts for in the day's budget, by its sample; pure.

Caps must hold whatever a provider tells, so what it does not count is counted for it: the input by the length of what
was sent, the output as all that may have been generated, up to the cap. The sample's own columns are left as they are.

- A request that was not sent counts nothing.
- One that was refused (an error status, or an error that speaks of the request, the key or a limit) counts what the
  provider says, else nothing: providers do not bill a request that they refuse. A gateway's own time-out is no refusal.
- One that was answered to its end counts what the provider counted.
- Any other (timed out, cut, broken, stopped, without a count) counts no less than the output cap.
- Where the request was sent twice (`reopened`) its input counts twice.
"""

from http import HTTPStatus
from typing import Final, NamedTuple

from probes.budget.daily_cost import prompt_tokens
from probes.endpoint import Endpoint
from probes.outcome import SET_UP, Outcome
from probes.sample import Sample

GAVE_UP: Final = frozenset({HTTPStatus.GATEWAY_TIMEOUT, 524})
"""Statuses of a gateway that waits no longer, while what is behind it may go on; 524 is Cloudflare's."""

_ANSWERED: Final = frozenset({Outcome.OK, Outcome.REFUSED, Outcome.WRONG_ANSWER, Outcome.EMPTY})
_REFUSED: Final = frozenset({Outcome.AUTH, Outcome.NOT_FOUND, Outcome.BAD_REQUEST, Outcome.RATE_LIMITED, Outcome.QUOTA})


class Spent(NamedTuple):
    """US dollars, where priced, and input plus output tokens."""

    usd: float
    tokens: int


class CostFacts(NamedTuple):
    """What a sample tells of its cost; meanings as in `probes.sample.Sample`."""

    outcome: Outcome
    http_status: int | None = None
    reopened: bool | None = None
    token_source: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


def most(endpoint: Endpoint) -> Spent:
    """What one probe of an endpoint may count for, before it is known."""
    read, written = prompt_tokens(endpoint), endpoint.output_cap
    return Spent(_usd(endpoint, read, written), read + written)


def charge(told: CostFacts | Sample, endpoint: Endpoint | None) -> Spent:
    """What a probe counts for. Of an endpoint that is not known any more only what the sample says."""
    written = told.output_tokens or 0
    if endpoint is None or not _may_cost(told):
        return Spent(told.cost_usd or 0.0, (told.input_tokens or 0) + written)
    once = prompt_tokens(endpoint) if told.input_tokens is None else told.input_tokens
    again = once if told.reopened and told.outcome not in SET_UP else 0
    counted = told.token_source == "usage" and told.outcome in _ANSWERED  # noqa: S105  # no password
    most_written = written if counted else max(written, 0 if told.outcome in SET_UP else endpoint.output_cap)
    # what a sample costs has its input in it, estimated where that must be
    usd = _usd(endpoint, once, written) if told.cost_usd is None else told.cost_usd
    return Spent(usd + _usd(endpoint, again, most_written - written), once + again + most_written)


def _may_cost(told: CostFacts | Sample) -> bool:
    """Whether a request was sent that a provider may have worked on."""
    if told.token_source is not None:
        return True
    status = told.http_status
    is_error = status is not None and status >= HTTPStatus.MULTIPLE_CHOICES and status not in GAVE_UP
    return told.reopened is not None and not is_error and told.outcome not in _REFUSED


def _usd(endpoint: Endpoint, read: int, written: int) -> float:
    """The configured price of so many tokens; nothing without one."""
    price = endpoint.price
    return 0.0 if price is None else (read * price.input + written * price.output) / 1e6

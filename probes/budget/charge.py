"""What one probe counts for in the day's budget, by its sample; pure.

Caps must hold whatever a provider reports, so what it leaves uncounted is estimated: the input by the length of what
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
    """US dollars (0.0 where no price is known), and input plus output tokens."""

    usd: float
    tokens: int


class CostFacts(NamedTuple):
    """Those columns of a sample that decide what it counts for; each means the same as in `probes.sample.Sample`."""

    outcome: Outcome
    http_status: int | None = None
    reopened: bool | None = None
    token_source: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


def highest_charge(endpoint: Endpoint, written: int = 0) -> Spent:
    """The most that one probe of an endpoint can count for, where its server heeds the cap on output tokens.

    A probe that has ``written`` more than that counts for at least these.
    """
    read, written = prompt_tokens(endpoint), max(written, endpoint.output_cap)
    return Spent(_usd(endpoint, read, written), read + written)


def charge(facts: CostFacts | Sample, endpoint: Endpoint | None) -> Spent:
    """What a probe counts for. Where the endpoint is no longer configured (None), only what the sample itself says."""
    written = facts.output_tokens or 0
    if endpoint is None or not _may_cost(facts):
        return Spent(facts.cost_usd or 0.0, (facts.input_tokens or 0) + written)
    once = prompt_tokens(endpoint) if facts.input_tokens is None else facts.input_tokens
    again = once if facts.reopened and facts.outcome not in SET_UP else 0
    counted = facts.token_source == "usage" and facts.outcome in _ANSWERED  # noqa: S105  # no password
    most_written = written if counted else max(written, 0 if facts.outcome in SET_UP else endpoint.output_cap)
    # what a sample costs has its input in it, estimated where that must be
    usd = _usd(endpoint, once, written) if facts.cost_usd is None else facts.cost_usd
    return Spent(usd + _usd(endpoint, again, most_written - written), once + again + most_written)


def _may_cost(facts: CostFacts | Sample) -> bool:
    """Whether a request was sent that a provider may have worked on."""
    if facts.token_source is not None:
        return True
    status = facts.http_status
    is_error = status is not None and status >= HTTPStatus.MULTIPLE_CHOICES and status not in GAVE_UP
    return facts.reopened is not None and not is_error and facts.outcome not in _REFUSED


def _usd(endpoint: Endpoint, read: int, written: int) -> float:
    """The price in USD of so many input and output tokens; 0.0 where none is configured."""
    price = endpoint.price
    return 0.0 if price is None else (read * price.input + written * price.output) / 1e6

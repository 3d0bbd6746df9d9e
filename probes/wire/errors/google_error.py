"""Google error: what the ``details`` of Google's error model say (google.rpc), whichever API carries them; pure.

Facts: googleapis/google/rpc/error_details.proto, gemini-cli (``googleQuotaErrors.ts``), recorded refusals.
"""

from dataclasses import dataclass
from typing import Final

from probes.rate_limits.headers import parse_reset
from probes.wire.framing.json_values import mapping, word

PACIFIC: Final = "America/Los_Angeles"
"""The Gemini API's requests per day begin anew at midnight Pacific time (ai.google.dev/gemini-api/docs/rate-limits)."""


@dataclass(frozen=True, slots=True)
class GoogleError:
    """``quota`` is the id of the violated quota, that of a day first; ``nothing``: it allows nothing at all.

    ``retry_after_s`` is what RetryInfo says, which knows nothing of days.
    """

    quota: str = ""
    nothing: bool = False
    wrong_key: bool = False
    retry_after_s: float | None = None

    @property
    def daily(self) -> bool:
        """Whether it is a day's quota: waiting a minute does not help, even where one of a minute is named with it."""
        return "PerDay" in self.quota


NO_DETAILS: Final = GoogleError()


def google_error(details: object) -> GoogleError:
    """What they say; nothing where they are not of that model."""
    known = [mapping(one) for one in details] if isinstance(details, list) else []
    delays = [delay for one in known if (delay := word(one.get("retryDelay")))]
    violations = [mapping(one) for detail in known for one in _list(detail.get("violations"))]
    quotas = [quota for one in violations if (quota := word(one.get("quotaId")))]
    return GoogleError(
        quota=next((one for one in quotas if "PerDay" in one), quotas[0] if quotas else ""),
        nothing=any(word(one.get("quotaValue")) == "0" for one in violations),
        wrong_key=any(one.get("reason") == "API_KEY_INVALID" for one in known),  # a 400 (gemini-cli issue 25198)
        retry_after_s=parse_reset(delays[0], 0.0) if delays else None,
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

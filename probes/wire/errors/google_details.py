"""The ``details`` of an error in Google's error model (google.rpc), whichever API carries them; pure.

Facts: googleapis/google/rpc/error_details.proto, gemini-cli (``googleQuotaErrors.ts``), recorded refusals.
"""

from dataclasses import dataclass
from typing import Final

from probes.rate_limits.headers import parse_reset
from probes.wire.framing.json_values import mapping, string

PACIFIC: Final = "America/Los_Angeles"
"""The Gemini API's requests per day begin anew at midnight Pacific time (ai.google.dev/gemini-api/docs/rate-limits)."""


@dataclass(frozen=True, slots=True)
class GoogleDetails:
    """``quota`` is the id of the violated quota, one per day first; ``zero_quota``: a violated quota allows nothing.

    ``retry_after_s`` is RetryInfo's, which takes no account of quotas per day.
    """

    quota: str = ""
    zero_quota: bool = False
    wrong_key: bool = False
    retry_after_s: float | None = None

    @property
    def daily(self) -> bool:
        """Whether a quota per day is used up: waiting a minute does not help, even if one per minute is too."""
        return "PerDay" in self.quota


NO_DETAILS: Final = GoogleDetails()


def google_details(details: object) -> GoogleDetails:
    """The details that are known; all empty where ``details`` are not in that model."""
    known = [mapping(one) for one in details] if isinstance(details, list) else []
    delays = [delay for one in known if (delay := string(one.get("retryDelay")))]
    violations = [mapping(one) for detail in known for one in _list(detail.get("violations"))]
    quotas = [quota for one in violations if (quota := string(one.get("quotaId")))]
    return GoogleDetails(
        quota=next((one for one in quotas if "PerDay" in one), quotas[0] if quotas else ""),
        zero_quota=any(string(one.get("quotaValue")) == "0" for one in violations),
        wrong_key=any(one.get("reason") == "API_KEY_INVALID" for one in known),  # a 400 (gemini-cli issue 25198)
        retry_after_s=parse_reset(delays[0], 0.0) if delays else None,
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

"""Finds what a server at an address speaks: its dialect, its base URL and its models, by asking for its list."""

from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from probes.endpoint import Endpoint
from probes.models.ask import LIMIT_S, ask
from probes.models.model import ModelList
from probes.outcome import SET_UP, Outcome
from probes.tls.context import TlsContexts
from probes.wire.credentials import Credentials

_REQUESTS: Final = (
    "/chat/completions",
    "/completions",
    "/responses",
    "/messages",
    "/models",
    "/api/chat",
    "/api/generate",
    "/api/tags",
    "/api",
)
"""Ends of addresses that people paste, which are not those of a base URL."""

_ENDS_THE_SEARCH: Final = SET_UP | {Outcome.TIMEOUT, Outcome.OWN_FAULT}
"""Nothing listens there: another path would not help."""


class _Candidate(NamedTuple):
    dialect: str
    base_url: str
    path: str


async def find_models(
    endpoint: Endpoint, credentials: Credentials | None, contexts: TlsContexts, *, limit_s: float = LIMIT_S
) -> ModelList:
    """The models of a server of which only the address (``endpoint.base_url``) is known, and perhaps its key.

    What the list says of itself is right: base URL, dialect, and the provider where it is recognized. Where there is no
    list, the outcome is that of the most telling answer: a refused key before a wrong path.
    """
    problems: list[ModelList] = []
    for one in _candidates(endpoint.base_url):
        asked = replace(endpoint, dialect=one.dialect, base_url=one.base_url)
        found = await ask(asked, one.path, credentials, contexts, limit_s=limit_s)
        if found.ok:
            return found
        problems.append(found)
        if found.outcome in _ENDS_THE_SEARCH:
            break
    telling = (one for one in problems if one.outcome not in {Outcome.NOT_FOUND, Outcome.PROTOCOL})
    return next(telling, problems[0])


def base_of(url: str) -> str:
    """An address without what is no part of a base URL: the path of a request, a slash at the end."""
    base = url.rstrip("/")
    return next((base.removesuffix(one) for one in _REQUESTS if base.endswith(one)), base)


def _candidates(url: str) -> list[_Candidate]:
    """What may be at an address, the most likely first."""
    base = base_of(url)
    tries = [_Candidate("openai_chat", base, "/models")]
    if not urlsplit(base).path.rstrip("/").endswith(("/v1", "/v2", "/v3")):
        tries = [_Candidate("openai_chat", f"{base}/v1", "/models"), *tries]
        tries.append(_Candidate("ollama", base, "/api/tags"))
    return tries

"""Tests a key by asking for a list of models with it: no tokens are used, and the answer says what the key is worth."""

from dataclasses import replace
from typing import Literal

from probes.endpoint import Endpoint
from probes.format import plural
from probes.models.ask import ask, refusal
from probes.models.model import ModelList
from probes.outcome import Outcome
from probes.tls.context import TlsContexts
from probes.wire.credentials import Credentials

Verdict = Literal["ok", "refused", "cannot tell"]


async def ask_to_test(
    endpoint: Endpoint, path: str | None, key_path: str | None, credentials: Credentials, contexts: TlsContexts
) -> ModelList:
    """The list that a key gets; one that anybody gets is marked ``public``, since it says nothing of the key.

    For that it is asked for once more without the key, unless ``key_path`` is where the provider answers only to keys:
    a key that is refused there gets no list here.
    """
    found = await ask(endpoint, path, credentials, contexts)
    if not found.ok or path is None:
        return found
    if key_path is not None:
        failure = await refusal(endpoint, key_path, credentials, contexts)
        if failure is not None and failure.outcome is Outcome.AUTH:
            return replace(found, outcome=failure.outcome, problem=failure.detail, models=())
        return replace(found, public=failure is not None)
    return await marked_if_public(found, endpoint, path, contexts)


async def marked_if_public(found: ModelList, endpoint: Endpoint, path: str, contexts: TlsContexts) -> ModelList:
    """A list with whether it is given to anybody, too: it is asked for without a key."""
    return replace(found, public=await refusal(endpoint, path, None, contexts) is None)


def verdict(found: ModelList) -> tuple[Verdict, str]:
    """What a list says of the key it was asked for with, and why."""
    if found.outcome is Outcome.AUTH:
        return "refused", found.problem or ""
    if found.outcome is Outcome.NO_KEY:
        return "cannot tell", found.problem or ""
    if not found.ok:
        return "cannot tell", f"{found.outcome}: {found.problem}"
    if found.public:
        return "cannot tell", "it lists its models without a key, too"
    count = len(found.models)
    return "ok", plural(count, "model")

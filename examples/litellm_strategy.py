"""A routing strategy for LiteLLM: each request goes to the deployment that inftop finds best now.

    router = litellm.Router(model_list=[...])
    use_inftop(router)                                    # asks `inftop best MODEL --json`
    use_inftop(router, url="http://127.0.0.1:9464")       # or the recorder: inftop record --metrics :9464 --api

A deployment says which endpoint of inftop it is, and a model which group, where that is not its own name:

    {"model_name": "gpt-oss-120b",
     "litellm_params": {"model": "groq/openai/gpt-oss-120b"},
     "model_info": {"inftop": "groq/gpt-oss-120b", "inftop_group": "gpt-oss-120b"}}

No request ever waits for inftop: it is asked in a thread, at most every ten seconds for a model. LiteLLM chooses as it
does without this where nothing is known yet or the answer is old, where none of the ranked endpoints is a deployment or
all of those are cooling down, when a request is tried again, and for requests that carry tags.
"""

import json
import os
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from litellm import Router
from litellm.router_utils.cooldown_handlers import get_cooldown_deployments
from litellm.types.router import CustomRoutingStrategyBase

EVERY_S = 10.0
"""How often inftop is asked about a group at most."""

OLD_S = 120.0
"""An answer is no longer gone by after so long."""

WAIT_S = 5.0
"""How long the thread waits for an answer."""

Asking = Callable[[str], list[str]]
"""The names of a group's ranked endpoints, the best first. May wait, and raise anything."""


def from_command(*words: str) -> Asking:
    """Ask the command `inftop best`, with more ``words``, such as ``--by``, ``tokens_per_s``."""

    def ask(group: str) -> list[str]:
        command = ["inftop", "best", "--json", *words, group]
        said = subprocess.run(  # noqa: S603 - words of the configuration, and no shell
            command, capture_output=True, timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL
        )
        return ranked(said.stdout)

    return ask


def from_recorder(url: str, token: str | None = None) -> Asking:
    """Ask a recorder that runs with ``--api`` at ``url``; ``token`` names the environment variable with its key."""

    def ask(group: str) -> list[str]:
        address = f"{url.rstrip('/')}/api/best/{urllib.parse.quote(group, safe='')}"
        secret = os.environ.get(token, "") if token else ""
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=WAIT_S) as answer:  # noqa: S310
            return ranked(answer.read(1 << 20))

    return ask


def ranked(text: bytes) -> list[str]:
    """The ranked members of an answer, the best first. Raises ValueError, KeyError or TypeError for what is none."""
    found = json.loads(text)
    if found["version"] != 1:
        raise ValueError("an answer of a newer inftop")
    return [one["name"] for one in found["members"] if one["rank"] is not None]


class BestNow:
    """Who is best of each group, as it was asked last; asked again in a thread."""

    def __init__(self, ask: Asking, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._known: dict[str, tuple[float, list[str]]] = {}
        self._asked: dict[str, float] = {}
        self._lock = threading.Lock()

    def names(self, group: str) -> list[str]:
        """The ranked endpoints of a group, none where nothing is known, or for too long. Returns at once."""
        now = self._clock()
        with self._lock:
            if now - self._asked.get(group, -EVERY_S) >= EVERY_S:
                self._asked[group] = now
                threading.Thread(target=self.refresh, args=(group,), name="inftop", daemon=True).start()
            at, names = self._known.get(group, (-OLD_S, []))
        return names if now - at < OLD_S else []

    def refresh(self, group: str) -> None:
        """Ask anew; what was known stays where there is no answer."""
        try:
            names = self._ask(group)
        except Exception:
            return
        with self._lock:
            self._known[group] = (self._clock(), names)


class InftopStrategy(CustomRoutingStrategyBase):
    """LiteLLM's choice of a deployment, with inftop asked first."""

    def __init__(self, router: Router, best: BestNow) -> None:
        self._router = router
        self._best = best

    async def async_get_available_deployment(
        self,
        model: str,
        messages: list[dict[str, str]] | None = None,
        input: str | list[Any] | None = None,  # noqa: A002 - LiteLLM's name
        specific_deployment: bool | None = False,
        request_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """The deployment of the best endpoint, or LiteLLM's choice."""
        if (found := self._preferred(model, specific_deployment, request_kwargs)) is not None:
            return found
        return await Router.async_get_available_deployment(
            self._router, model, request_kwargs or {}, messages, input, specific_deployment
        )

    def get_available_deployment(
        self,
        model: str,
        messages: list[dict[str, str]] | None = None,
        input: str | list[Any] | None = None,  # noqa: A002 - LiteLLM's name
        specific_deployment: bool | None = False,
        request_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """The same for those who do not await."""
        if (found := self._preferred(model, specific_deployment, request_kwargs)) is not None:
            return found
        return Router.get_available_deployment(
            self._router, model, messages, input, specific_deployment, request_kwargs
        )

    def _preferred(
        self, model: str, specific_deployment: bool | None, request_kwargs: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        """The deployment of the best endpoint that is not cooling down; None where LiteLLM is to choose."""
        metadata = (request_kwargs or {}).get("metadata") or {}
        if specific_deployment or metadata.get("previous_models") or metadata.get("tags"):
            return None
        deployments = [dict(one) for one in self._router.get_model_list(model_name=model) or ()]
        by_name = {one["model_info"]["inftop"]: one for one in deployments if "inftop" in one.get("model_info", {})}
        if not by_name:
            return None
        group = next((one["model_info"].get("inftop_group") for one in by_name.values()), None) or model
        cooling = set(get_cooldown_deployments(litellm_router_instance=self._router, parent_otel_span=None))
        chosen = (by_name[name] for name in self._best.names(group) if name in by_name)
        return next((one for one in chosen if one["model_info"].get("id") not in cooling), None)


def use_inftop(
    router: Router, *, url: str | None = None, token: str | None = None, words: tuple[str, ...] = ()
) -> InftopStrategy:
    """Have a router ask inftop: the recorder at ``url``, or the command with these more ``words``."""
    ask = from_command(*words) if url is None else from_recorder(url, token)
    strategy = InftopStrategy(router, BestNow(ask))
    router.set_custom_routing_strategy(strategy)
    return strategy

"""Who is best, for routers and shells: OpenRouter's ``provider`` object, and a line of variables; pure."""

import shlex
from typing import Any, Final

from probes.answers.best import Best
from probes.answers.now import EndpointNow

_BY_HOST: Final = {
    "amazonaws.com": "amazon-bedrock",
    "api.anthropic.com": "anthropic",
    "api.baseten.co": "baseten",
    "api.cerebras.ai": "cerebras",
    "api.cohere.com": "cohere",
    "api.deepinfra.com": "deepinfra",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks",
    "api.groq.com": "groq",
    "api.inceptionlabs.ai": "inception",
    "api.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshotai",
    "api.novita.ai": "novita",
    "api.openai.com": "openai",
    "api.parasail.io": "parasail",
    "api.perplexity.ai": "perplexity",
    "api.sambanova.ai": "sambanova",
    "api.siliconflow.com": "siliconflow",
    "api.studio.nebius.com": "nebius",
    "api.together.ai": "together",
    "api.together.xyz": "together",
    "api.x.ai": "xai",
    "generativelanguage.googleapis.com": "google-ai-studio",
    "inference.baseten.co": "baseten",
    "integrate.api.nvidia.com": "nvidia",
}
"""OpenRouter's slug of the provider at a host, or below it: https://openrouter.ai/docs/docs/routing/provider-selection."""

_BY_PRESET: Final = {
    "anthropic": "anthropic",
    "bedrock": "amazon-bedrock",
    "bedrock-openai": "amazon-bedrock",
    "cerebras": "cerebras",
    "deepinfra": "deepinfra",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "gemini": "google-ai-studio",
    "groq": "groq",
    "inception": "inception",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "sambanova": "sambanova",
    "together": "together",
}
"""The same by the provider's name in a configuration, where no recorder said which host it is; not of ``openai``.

That is also what a configuration calls a server of any other maker that speaks as OpenAI does.
"""


def slug(endpoint: EndpointNow) -> str | None:
    """What OpenRouter calls the provider of an endpoint; None where it is none of theirs that we know."""
    if not endpoint.origin:
        return _BY_PRESET.get(endpoint.provider)
    host = endpoint.origin.partition("://")[2].rpartition("@")[2].partition("/")[0].partition(":")[0].lower()
    return next((name for known, name in _BY_HOST.items() if host == known or host.endswith(f".{known}")), None)


def openrouter(answer: Best) -> dict[str, Any] | None:
    """OpenRouter's ``provider`` object: the ranked members' providers, the best first; None where it knows none.

    Others may still serve, after these: a request must not fail because we know little.
    """
    order = [name for one in answer.ranked if (name := slug(one.endpoint)) is not None]
    return {"order": list(dict.fromkeys(order)), "allow_fallbacks": True} if order else None


def unknown_to_openrouter(answer: Best) -> tuple[str, ...]:
    """The ranked members whose provider OpenRouter has under no name that we know."""
    return tuple(one.endpoint.name for one in answer.ranked if slug(one.endpoint) is None)


def shell_line(answer: Best) -> str:
    """A line for ``eval`` of a POSIX shell: the best one's name, provider and model, and whether it is clearly so."""
    first = answer.first
    values = {
        "INFTOP_BEST": first.endpoint.name if first else "",
        "INFTOP_BEST_PROVIDER": first.endpoint.provider if first else "",
        "INFTOP_BEST_MODEL": first.endpoint.model if first else "",
        "INFTOP_BEST_IS_CLEAR": "1" if first and not answer.level else "",
    }
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())

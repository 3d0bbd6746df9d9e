"""The nonce that makes each probe's prompt unique, and the version that samples of equal prompts have in common."""

import hashlib
import secrets

from probes.endpoint import DEFAULT_REASONING, Endpoint

NONCE_BYTES = 6


def nonce() -> str:
    """A new nonce: twelve random hex digits."""
    return secrets.token_hex(NONCE_BYTES)


def prompt_version(endpoint: Endpoint) -> str:
    """Eight hex digits of SHA-256 over the prompt, the output cap, the temperature and the reasoning level.

    Samples of equal versions compare. The prompt is all that is sent, system prompt and other messages included. What
    an endpoint leaves out is left out here too, so that versions of older samples stay what they were.
    """
    hashed = f"{endpoint.prompt}\n{endpoint.max_output_tokens}\n{endpoint.temperature}"
    if endpoint.system is not None or endpoint.messages:
        sent = "\n".join(f"{message.role}: {message.content}" for message in endpoint.conversation.messages)
        hashed = f"{sent}\n{endpoint.max_output_tokens}\n{endpoint.temperature}"
    if endpoint.reasoning != DEFAULT_REASONING:
        hashed += f"\nreasoning {endpoint.reasoning}"
    return hashlib.sha256(hashed.encode()).hexdigest()[:8]

"""Prompt: what a probe asks, made unique by a nonce, and the version that makes samples comparable."""

import hashlib
import secrets

from probes.endpoint import DEFAULT_REASONING, Endpoint

NONCE_BYTES = 6


def unique(prompt: str) -> str:
    """The prompt with a fresh nonce at its front: a prefix cache then holds none of it."""
    return with_nonce(prompt, nonce())


def nonce() -> str:
    """Twelve random hex digits."""
    return secrets.token_hex(NONCE_BYTES)


def with_nonce(prompt: str, nonce: str) -> str:
    """The prompt with this nonce at its front."""
    return f"[{nonce}] {prompt}"


def version(endpoint: Endpoint) -> str:
    """Eight hex digits of SHA-256 over prompt, output cap, temperature and, where one is set, the reasoning level.

    Equal means the samples compare.
    """
    asked = f"{endpoint.prompt}\n{endpoint.max_output_tokens}\n{endpoint.temperature}"
    if endpoint.reasoning != DEFAULT_REASONING:  # else the version is what it was before there were levels
        asked += f"\nreasoning {endpoint.reasoning}"
    return hashlib.sha256(asked.encode()).hexdigest()[:8]

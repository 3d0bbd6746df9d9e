"""Prompts: what models are raced on, by name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """A prompt of the library. ``expect`` is a regular expression that a right answer matches, where there is one."""

    name: str
    text: str
    expect: str | None = None

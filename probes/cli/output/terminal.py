"""What is said to the person at the terminal: on standard error, so that standard output has results alone."""

import sys


def say(text: str) -> None:
    """Say what happened, what to mind, or what to do next."""
    print(text, file=sys.stderr)  # noqa: T201


def is_interactive() -> bool:
    """Whether a person can be asked: there is a keyboard to answer with, and a screen that shows the question."""
    return sys.stdin.isatty() and sys.stderr.isatty()

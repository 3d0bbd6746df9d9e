"""Separates reasoning that a model wrote at the beginning of its answer's text from the answer, by its tags."""

from collections.abc import Mapping
from typing import Final, NamedTuple

TAGS: Final[Mapping[str, str]] = {
    "<think>": "</think>",  # DeepSeek, Qwen, GLM, Kimi, MiniMax, Nemotron, OLMo and most others
    "<thinking>": "</thinking>",  # gateways that put a reasoning field into the content
    "<thought>": "</thought>",  # Gemini's OpenAI-compatible API (google.thought_tag_marker)
    "<seed:think>": "</seed:think>",  # ByteDance Seed-OSS
    "[THINK]": "[/THINK]",  # Mistral's Magistral
    "<|START_THINKING|>": "<|END_THINKING|>",  # Cohere Command A Reasoning
    "<|channel>thought": "<channel|>",  # Gemma 4
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",  # gpt-oss (harmony)
}
"""Opening tags and their closing ones, as the models write them (vLLM's reasoning parsers, Google's own examples).

They are seen where no reasoning parser takes them out: vLLM without ``--reasoning-parser``, llama.cpp with
``--reasoning-format none``, Ollama with a template it does not know, and whatever passes such text on.
"""

_OPENED_BY_TEMPLATE: Final = ("</think>", "</seed:think>")
"""Closing tags seen without their opening one: the chat template wrote that into the prompt (DeepSeek-R1, Qwen3)."""

_KEPT: Final = max(map(len, _OPENED_BY_TEMPLATE))
"""Characters kept of the text so far: all but the last of a tag, and the one in front of it."""

_QUOTES: Final = ("`", "'", '"', "\u2018", "\u201c", "\u00ab", "(", "\\")
"""In front of a tag they say that the tag is spoken of, not used."""


class Split(NamedTuple):
    """One text: the reasoning at its front, then the answer. ``all_before``: all text before it was reasoning too."""

    reasoning: str
    answer: str
    all_before: bool = False


class ThinkTags:
    """Separates the reasoning in one answer's text from the answer, as the text comes, cut anywhere.

    Nothing is held back: a text that may begin a tag is the answer's until the whole tag has come. Only an opening tag
    at the very start counts, and the closing tag that follows it; tags and the blanks behind them belong to the
    reasoning. The first closing tag of a text without an opening one ends reasoning that began in the prompt.
    """

    def __init__(self) -> None:
        self._read = self._at_start
        self._seen = ""
        self._closing = ""

    def split(self, text: str) -> Split:
        """What of the next ``text`` is reasoning, and what is the answer."""
        return self._read(text)

    def _at_start(self, text: str) -> Split:
        """Before it is known whether the text begins with a tag."""
        seen = (self._seen + text).lstrip()
        opening = next((one for one in TAGS if seen.startswith(one)), None)
        if opening is not None:
            self._read, self._closing, self._seen = self._inside, TAGS[opening], ""
            inside = self._inside(seen[len(opening) :])
            return Split(text[: len(text) - len(inside.answer)], inside.answer, all_before=True)
        if any(one.startswith(seen) for one in TAGS):
            self._seen = seen
            return Split("", text)
        self._read = self._outside
        return self._outside(text)

    def _inside(self, text: str) -> Split:
        """Between an opening tag and its closing one."""
        window = self._seen + text
        at = window.find(self._closing)
        if at < 0:
            self._seen = window[1 - len(self._closing) :]
            return Split(text, "")
        return self._closed(text, window[at + len(self._closing) :])

    def _outside(self, text: str) -> Split:
        """In a text that began without a tag."""
        window = self._seen + text
        self._seen = window[-_KEPT:]
        if "<" not in window:
            return Split("", text)
        if any(one in window for one in TAGS):
            self._read = self._answer  # a text about tags
            return Split("", text)
        for closing in _OPENED_BY_TEMPLATE:
            before, tag, rest = window.partition(closing)
            if tag and not before.endswith(_QUOTES):
                return self._closed(text, rest)._replace(all_before=True)
            if tag:
                self._read = self._answer
        return Split("", text)

    def _closed(self, text: str, rest: str) -> Split:
        """``text`` ends with ``rest``, and the reasoning just before that."""
        self._read = self._after
        answer = self._after(rest).answer
        return Split(text[: len(text) - len(answer)], answer)

    def _after(self, text: str) -> Split:
        """Behind a closing tag, where only blanks have come."""
        answer = text.lstrip()
        if answer:
            self._read = self._answer
        return Split(text[: len(text) - len(answer)], answer)

    def _answer(self, text: str) -> Split:
        return Split("", text)

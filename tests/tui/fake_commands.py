"""Our own commands, faked: a child process that prints the JSON that a test gives it, and notes what it was asked."""

import asyncio
import json
import sys
import time

from tui.sources.own_commands import OwnCommands

PROGRAM = """
import json, os, sys, time
answers = json.load(open(sys.argv[1]))
words = sys.argv[3:]
with open(sys.argv[2], "a") as log:
    keys = {name: len(value) for name, value in os.environ.items() if name.endswith("_KEY")}
    log.write(json.dumps({"words": words, "keys": keys}) + "\\n")
found = answers.get(" ".join(words[:2]).partition("=")[0]) or answers[words[0]]
time.sleep(found.get("seconds", 0))
if "said" in found:
    sys.exit(found["said"])
print(json.dumps(found))
"""


class FakeCommands(OwnCommands):
    """Answers by the first word, or the first two, of a command; ``folder`` holds the answers and what was asked.

    Of an answer ``seconds`` is how long it takes, and ``said`` what a command that fails says.
    """

    def __init__(self, folder, answers):
        self.log = folder / "asked.jsonl"
        self._answers = folder / "answers.json"
        self.answer(answers)
        self._running = 0
        super().__init__(self.argv)

    async def ask(self, *words, **more):
        self._running += 1
        try:
            return await super().ask(*words, **more)
        finally:
            self._running -= 1

    async def ended(self):
        """Until no child runs any more, once the screen that asked has gone."""
        while self._running:
            await asyncio.sleep(0)

    def argv(self, words):
        return [sys.executable, "-ISc", PROGRAM, str(self._answers), str(self.log), *words]

    def answer(self, answers):
        self._answers.write_text(json.dumps(answers))

    @property
    def asked(self):
        """What was asked so far: words, and the lengths of the keys in the environment."""
        return [json.loads(one) for one in self.log.read_text().splitlines()] if self.log.exists() else []


async def until(shown, condition):
    """Let the screen go on until something holds."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, shown.text
        await asyncio.sleep(0)  # where all is quiet nothing else lets the child's answer in
        await shown.settle()


def models(*records, provider="groq", url="https://api.groq.com/openai/v1", dialect="openai_chat", **more):
    """The answer of ``inftop models``."""
    one = {"provider": provider, "url": url, "dialect": dialect, "problem": None, "outcome": None, "models": [*records]}
    return {"lists": [{**one, **more}]}


def model(name, **more):
    """A model of a list."""
    return {"id": name, "name": None, "context": None, "input_usd": None, "output_usd": None, **more}

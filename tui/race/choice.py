"""RaceChoice: the form of the next race: lanes at the left; prompt, cap, heats and connections at the right."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from probes.race.request import MOST_LANES, NamedPrompt
from probes.text import line
from tui import verbs
from tui.race.form import FIELDS, Field, RaceForm
from tui.race.lane_words import LETTERS
from tui.style.format import number
from tui.style.palette import Piece
from tui.widgets.plate import Plate, Row

Item = tuple[str, str]
"""Something to choose: ``("lane", NAME)``, ``("prompt", INDEX)``, ``("typed", "")`` or ``("field", NAME)``."""

LABELS: Final[dict[Field, str]] = {"cap": "token cap", "heats": "heats", "cold": "connections"}
PARTS: Final = {"lane": "lanes", "prompt": "prompt", "typed": "prompt", "field": "race"}
"""The part of the form that each kind of thing to choose is in."""

PREVIEW: Final = 5
"""Rows of the prompt that is chosen."""


def items(form: RaceForm) -> list[Item]:
    """Everything that can be chosen, in the order in which the cursor goes through it."""
    found = [("lane", one.name) for one in form.endpoints]
    found += [("prompt", str(place)) for place in range(len(form.prompts))]
    return [*found, ("typed", ""), *(("field", one) for one in FIELDS)]


class PromptLine(Input):
    """A line to type a prompt into."""

    typing_keys = (verbs.TAKE_TEXT, replace(verbs.BACK, keys="escape", label="as it was"))


class RaceChoice(Horizontal):
    """The form, filled in by keys with a cursor, or by clicks.

    Every change posts `Changed`; Enter posts `StartWanted` unless the cursor is where a prompt is typed.
    """

    DEFAULT_CSS = """
    RaceChoice {
        height: 1fr;
        padding: 1 1 0 1;
        Plate { width: 1fr; height: 1fr; }
        #options { margin-left: 2; }
        Input { dock: bottom; height: 1; padding: 0 1; background: $primary 20%; }
    }
    """

    class Changed(Message):
        """Something else is chosen, or under the cursor."""

    class StartWanted(Message):
        """The race that is chosen is to be started."""

    def __init__(self, prompts: Sequence[NamedPrompt], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self.form = RaceForm((), tuple(prompts), prompt=0 if prompts else None)
        self.cursor: Item = ("typed", "")
        self._choices = Plate(id="choices")
        self._options = Plate(id="options")
        self._owners: dict[Plate, list[Item | None]] = {self._choices: [], self._options: []}

    def compose(self) -> ComposeResult:
        """Lanes, then the rest."""
        yield self._choices
        yield self._options

    def change(self, form: RaceForm, cursor: Item | None = None) -> None:
        """Another form, and maybe another cursor."""
        self.form, self.cursor = form, cursor or self.cursor
        self.post_message(self.Changed())

    async def action_enter(self) -> None:
        """Type a prompt where that is under the cursor; else start the race."""
        if self.cursor[0] == "typed":
            await self.type()
        else:
            self.post_message(self.StartWanted())

    def action_space(self) -> None:
        """Choose what is under the cursor: a lane or not, a prompt, the other kind of connections."""
        kind, name = self.cursor
        if kind == "lane":
            self.change(self.form.toggled(name))
        elif kind == "prompt":
            self.change(replace(self.form, prompt=int(name)))
        elif kind == "typed":
            self.change(replace(self.form, prompt=None))
        else:
            self.action_sideways(1)

    def action_sideways(self, step: int) -> None:
        """Another value of the field under the cursor."""
        for field in FIELDS:
            if self.cursor == ("field", field):
                self.change(self.form.changed(field, step))

    def action_move(self, step: int) -> None:
        """Move the cursor; the ends are ends."""
        found = items(self.form)
        place = found.index(self.cursor) if self.cursor in found else 0
        self.change(self.form, found[max(0, min(len(found) - 1, place + step))])

    def action_lane(self, step: int) -> None:
        """Move the cursor to the next part of the form, or the one before (-1), round and round."""
        parts: dict[str, Item] = {}
        for one in items(self.form):
            parts.setdefault(PARTS[one[0]], one)
        names = list(parts)
        place = names.index(PARTS[self.cursor[0]]) if PARTS[self.cursor[0]] in parts else 0
        self.change(self.form, parts[names[(place + step) % len(names)]])

    @property
    def is_typing(self) -> bool:
        """Whether a prompt is being typed."""
        return bool(self.query(Input))

    async def type(self) -> None:
        """A line to type a prompt into."""
        typing = PromptLine(self.form.typed, placeholder="a prompt of your own", compact=True)
        await self.mount(typing)
        typing.focus()

    def leave(self) -> None:
        """Stop typing; the prompt stays what it was."""
        self.query(Input).remove()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        self.leave()
        self.change(replace(self.form, typed=event.value, prompt=None))

    @on(Plate.Clicked)
    def _clicked(self, event: Plate.Clicked) -> None:
        owners = self._owners[event.plate]
        item = owners[event.row] if event.row < len(owners) else None
        if item is not None:
            self.cursor = item
            self.action_space()

    def draw(self) -> None:
        """Draw it, the cursor in sight."""
        self._draw(self._choices, _lanes(self.form, self._choices.size.width))
        self._draw(self._options, _options(self.form, self._options.size.width))

    def _draw(self, plate: Plate, lines: Sequence[tuple[Item | None, Row]]) -> None:
        """Draw as many lines as there is room for: the heading, then those around the cursor."""
        room = max(plate.size.height - 1, 1)
        head, body = lines[0], list(lines[1:])
        place = next((place for place, (item, _) in enumerate(body) if item == self.cursor), 0)
        first = max(0, min(place - room + 2, len(body) - room))
        shown = [head, *body[first : first + room]]
        self._owners[plate] = [item for item, _ in shown]
        chosen = next((row for row, (item, _) in enumerate(shown) if item == self.cursor), None)
        plate.draw([row for _, row in shown], chosen)


def _lanes(form: RaceForm, width: int) -> list[tuple[Item | None, Row]]:
    title: Row = (("Lanes", "title"), (f"   {len(form.lanes)} of at most {MOST_LANES}", "label"))
    longest = max((len(one.name) for one in form.endpoints), default=0)
    named = min(longest, max(width - 8, 8))
    lines: list[tuple[Item | None, Row]] = [(None, title)]
    for one in form.endpoints:
        if one.name in form.lanes:
            slot = form.lanes.index(one.name)
            mark: Piece = (f" {LETTERS[slot]} ▶ ", f"slot{slot}")
        else:
            mark = (" ·   ", "dim")
        name = one.name if len(one.name) <= named else f"{one.name[: named - 1]}…"
        lines.append((("lane", one.name), (mark, (f"{name:{named}}  ", "figure"), (one.model, "label"))))
    return lines


def _options(form: RaceForm, width: int) -> list[tuple[Item | None, Row]]:
    lines: list[tuple[Item | None, Row]] = [(None, (("Prompt", "title"),))]
    longest = max((len(one.name) for one in form.prompts), default=0)
    for place, one in enumerate(form.prompts):
        chosen = form.prompt == place
        expects = f"  (must match {one.expect})" if one.expect else ""
        lines.append(
            (
                ("prompt", str(place)),
                (_dot(chosen), (f"{one.name:{longest}}  ", "figure"), (line(one.text) + expects, "label")),
            )
        )
    typed = line(form.typed) or "type one of your own …"
    lines.append((("typed", ""), (_dot(form.prompt is None), (typed, "figure" if form.typed else "hint"))))
    values = {"cap": number(form.cap), "heats": number(form.heats), "cold": "cold" if form.cold else "warmed first"}
    lines += [(None, ()), (None, (("Race", "title"),))]
    for field in FIELDS:
        lines.append(
            (
                ("field", field),
                ((f" {LABELS[field]:<13}", "label"), ("◂ ", "dim"), (values[field], "figure"), (" ▸", "dim")),
            )
        )
    text = form.typed if form.prompt is None else form.prompts[form.prompt].text
    preview = wrap(line(text, 4_000), max(width - 2, 10))
    lines += [(None, ()), *((None, ((f" {one}", "hint"),)) for one in preview[:PREVIEW])]
    return lines


def _dot(chosen: bool) -> Piece:
    return (" ◉ ", "title") if chosen else (" ○ ", "dim")

"""The race page's keys, and the order in which its footer drops them."""

from typing import Final

from tui.keymap import Key

RACE_KEYS: Final = (
    Key("race.start", "s", "s", "start", "Race", "start/stop", "Start or stop the race",
        "Start the race that is chosen, or stop the one that runs; what was run is kept."),
    Key("race.enter", "enter", "Enter", "in_view('enter')", "Race", "", "",
        "Start the race that is chosen; type a prompt where that is under the cursor; replay a kept race."),
    Key("race.again", "m", "m", "again", "Race", "rematch", "Rematch",
        "Run the same race once more."),
    Key("race.new", "n", "n", "choose", "Race", "new", "Choose lanes, prompt and heats",
        "Choose the lanes, the prompt, the token cap, the heats and the connections of the next race."),
    Key("race.swap", "w", "w", "swap", "Race", "swap", "Swap the lanes",
        "Move the lanes on by one: of two, the other way round."),
    Key("race.heats", "h", "h", "heats(1)", "Race", "more heats", "More heats",
        "More heats in the next race; in a replay its next heat."),
    Key("race.heats.back", "H", "H", "heats(-1)", "Race", "", "Fewer heats",
        "Fewer heats in the next race; in a replay the heat before."),
    Key("race.replay", "r", "r", "replay", "Race", "replay", "Replay",
        "Watch the race again from its recording, heat by heat, at true speed or any other."),
    Key("race.space", "space", "space", "in_view('space')", "Race", "", "Hold or go on",
        "Hold the replay, or let it go on; where a race is chosen, take what is under the cursor."),
    Key("race.slower", "minus,comma", "-", "pace('slower')", "Race", "slower", "Slow motion",
        "Replay slower, down to a tenth of the true speed."),
    Key("race.faster", "plus,equals_sign,full_stop", "+", "pace('faster')", "Race", "faster", "Faster replay",
        "Replay faster, up to ten times the true speed."),
    Key("race.left", "left", "←", "in_view('sideways(-1)')", "Race", "", "",
        "Go back in the replay; where a race is chosen, the smaller value."),
    Key("race.right", "right", "→", "in_view('sideways(1)')", "Race", "", "",
        "Go forward in the replay; where a race is chosen, the larger value."),
    Key("race.save", "e", "e", "in_view('save')", "Race", "save", "Save picture and answers",
        "Write the screen to an SVG picture, and the answers to a text file beside it."),
    Key("race.copy", "c", "c", "in_view('copy')", "Race", "copy", "Copy the answer",
        "Copy the answer of the lane that is marked."),
    Key("race.kept", "o", "o", "kept", "Race", "kept races", "Kept races",
        "List the races that are kept; Enter replays one."),
    Key("race.next", "tab", "Tab", "in_view('lane(1)')", "Race", "", "",
        "Mark the next lane: its answer is scrolled and copied. Where a race is chosen, go to its other half."),
    Key("race.up", "up,k", "↑ k", "in_view('move(-1)')", "Race", "", "",
        "Up, in what is chosen or read."),
    Key("race.down", "down,j", "↓ j", "in_view('move(1)')", "Race", "", "",
        "Down, in what is chosen or read."),
    Key("race.page.up", "pageup", "PgUp", "in_view('move(-10)')", "Race", "", "",
        "Ten rows up."),
    Key("race.page.down", "pagedown", "PgDn", "in_view('move(10)')", "Race", "", "",
        "Ten rows down."),
    Key("race.first", "home", "Home", "in_view('move(-1000000)')", "Race", "", "",
        "The first row."),
    Key("race.last", "end", "End", "in_view('move(1000000)')", "Race", "", "",
        "The last row."),
    Key("race.back", "escape,q", "Esc", "back", "Race", "back", "Back",
        "Leave the list or the choice, then the race view; a race that runs goes on."),
    Key("race.help", "question_mark,f1", "?", "app.help", "Race", "help", "Help: keys and formulas",
        "Every key and every formula."),
)  # fmt: skip

_BY_ID: Final = {key.id: key for key in RACE_KEYS}

RACE_FOOTER: Final = tuple(
    _BY_ID[f"race.{name}"]
    for name in (
        "help", "back", "start", "again", "new", "replay", "swap", "heats", "kept", "save", "copy", "slower", "faster",
    )
)  # fmt: skip

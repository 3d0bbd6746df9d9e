"""What the terminal is told of incidents: by which sequences, of what, and that no word of a provider is one."""

import re
from base64 import b64decode
from datetime import time

import pytest
from msgspec.structs import replace

from probes.alerts.settings import AlertSettings, Hours
from probes.feed.messages import AlertStatus
from tests.tui import fabric
from tests.tui.fabric import NOW
from tests.tui.incidents.incidents import DOWN, SLOW
from tests.tui.screen import showing
from tui.attention import BELL, KEEP_TITLE, PUT_TITLE_BACK, Attention, note, note_style, title

LOUD = AlertSettings(bell=True, desktop=True)
XTERM = {"TERM": "xterm-256color"}
ITERM = {**XTERM, "TERM_PROGRAM": "iTerm.app"}
EVIL = "a\x1b]52;c;ZXZpbA==\x07b\x1b\\\x9d2;c\x9c\x1bP+q\x1b\\;d\r\n\u202e9;4;1"


@pytest.mark.parametrize(
    ("environment", "style"),
    [
        (ITERM, "9"),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "LC_TERMINAL": "iTerm2", "TMUX": "socket,1,0"}, "9"),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1", "TMUX": "socket,1,0"}, "99"),
        ({"TERM": "xterm-ghostty"}, "777"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "777"),
        ({"TERM": "foot-extra"}, "777"),
        ({"TERM": "rxvt-unicode-256color"}, "777"),
        ({"TERM": "xterm-kitty"}, "99"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, ""),
        ({}, ""),
    ],
)
def test_the_environment_says_how_the_terminal_takes_notes(environment, style):
    assert note_style(environment) == style


def test_each_style_is_as_its_terminal_documents_it():
    assert note("9", "inftop", "groq is down", 1) == "\x1b]9;inftop: groq is down\x1b\\"
    assert note("777", "inftop", "a; b", 1) == "\x1b]777;notify;inftop;a, b\x1b\\"
    first, last = re.findall(r"\x1b\]99;([^\x1b]*)\x1b\\", note("99", "inftop", "groq is down", 3))
    assert first.startswith("i=inftop3:e=1:d=0;")
    assert last.startswith("i=inftop3:e=1:d=1:p=body;")
    assert b64decode(last.partition(";")[2]) == b"groq is down"
    assert note("", "inftop", "groq is down", 1) == ""
    assert note("9", "inftop", "a", 1, in_tmux=True) == "\x1bPtmux;\x1b\x1b]9;inftop: a\x1b\x1b\\\x1b\\"


@pytest.mark.parametrize("style", ["9", "777", "99"])
def test_no_word_ends_a_sequence_or_begins_one(style):
    written = note(style, EVIL, EVIL, 1)
    whole = re.fullmatch(r"(\x1b\](9|777|99);[^\x00-\x1f\x7f-\x9f]*\x1b\\){1,2}", written)
    assert whole
    assert written.count("\x1b") == (4 if style == "99" else 2)
    assert style != "777" or written.count(";") == 3
    assert re.fullmatch(r"\x1b\]2;[^\x00-\x1f\x7f-\x9f]*\x1b\\", title(EVIL))


def test_the_title_counts_what_is_open_and_goes_back_to_what_it_was():
    attention, quiet = Attention(XTERM), AlertSettings()
    assert attention.sequences((), quiet, NOW) == KEEP_TITLE + title("inftop")
    assert attention.sequences((), quiet, NOW) == ""
    assert attention.sequences((DOWN, SLOW), quiet, NOW) == title("inftop ▲2")
    assert attention.sequences((DOWN, replace(SLOW, resolved_at=NOW)), quiet, NOW) == title("inftop ▲1")
    assert attention.end() == PUT_TITLE_BACK
    assert attention.end() == ""
    assert Attention(XTERM).sequences((DOWN,), AlertSettings(title=False), NOW) == ""
    assert Attention({"TERM": "linux"}).sequences((DOWN,), quiet, NOW) == ""


def test_what_begins_gets_worse_or_ends_is_told_once():
    attention = Attention(ITERM)
    loud = AlertSettings(title=False, bell=True, desktop=True)
    slow = replace(SLOW, acknowledged_at=None, silenced_until=None)
    assert attention.sequences((slow,), loud, NOW) == "", "it was open before anybody looked"
    told = attention.sequences((DOWN, slow), loud, NOW)
    assert told.startswith(BELL + "\x1b]9;inftop: inception (2 endpoints) is down")
    assert attention.sequences((DOWN, slow), loud, NOW) == ""
    assert BELL in attention.sequences((DOWN, replace(slow, severity="critical")), loud, NOW)
    ended = attention.sequences((replace(DOWN, resolved_at=NOW),), loud, NOW)
    assert "is well again after 1" in ended
    assert BELL not in ended
    assert BELL in attention.sequences((DOWN,), loud, NOW), "it is open again"


def test_what_is_silenced_acknowledged_or_mere_information_is_not_told():
    loud = AlertSettings(title=False, bell=True, desktop=True)
    for changes in ({"acknowledged_at": NOW}, {"silenced_until": NOW + 1}, {"severity": "info"}):
        attention = Attention(ITERM)
        attention.sequences((), loud, NOW)
        assert attention.sequences((replace(DOWN, **changes),), loud, NOW) == ""


def test_quiet_hours_hold_back_what_is_not_critical():
    always = Hours(time(0), time(0), zone="UTC")
    loud = AlertSettings(title=False, bell=True, desktop=True, quiet=always)
    slow = replace(SLOW, acknowledged_at=None, silenced_until=None)
    attention = Attention(ITERM)
    attention.sequences((), loud, NOW)
    assert attention.sequences((slow,), loud, NOW) == ""
    assert BELL in attention.sequences((slow, DOWN), loud, NOW)


async def test_the_app_tells_the_terminal(monkeypatch):
    written = []
    async with showing(fabric.hello(), alerts=LOUD) as shown:
        shown.app._attention = Attention(ITERM)
        monkeypatch.setattr(shown.app, "tell_terminal", written.append)
        await shown.hear(fabric.frame([], alerts=AlertStatus()))
        await shown.hear(fabric.frame([], alerts=AlertStatus(incidents=(DOWN,))))
    told = "".join(written)
    assert title("inftop ▲1") in told
    assert BELL in told
    assert "\x1b]9;inftop: inception (2 endpoints) is down" in told

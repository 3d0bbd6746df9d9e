"""What the documents say of the code: every path, link and heading is there, every command line is one of ours."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from tui.commands import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *ROOT.glob("CONTRIBUTING.md"), *sorted((ROOT / "docs").glob("*.md"))]
NAMED = re.compile(r"`((?:probes|tui|tests|docs)(?:/[\w.-]+)+)/?`")
BESIDE = re.compile(r"`((?:probes|tui|tests)(?:/[\w.-]+)*/)[\w.-]+`(?:,| and| or|, or) `([\w-]+\.(?:py|toml))`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = get_command(app)
README_LINES = 120
STARTERS = {"&&", "|", "uvx", "--from", "-u", "exec", "-it"}
ACT_AT_ONCE = {"--help", "--version", "--install-completion", "--show-completion"}
ENDS = {"&&", "|", ";", ">", "<", "&"}

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def blocks(page):
    """The command lines of ours in a page's blocks for a shell, as words."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            ours = [at for at, word in enumerate(words) if word.split("/")[-1] == "inftop" and "//" not in word]
            starts = [at for at in ours if at == 0 or {words[at - 1], words[max(0, at - 2)]} & STARTERS]
            # a user or a container of that name comes before the command
            for at in (at for at in starts if at + 1 not in starts):
                rest = words[at + 1 :]
                yield rest[: next((place for place, one in enumerate(rest) if one in ENDS), len(rest))]


def names(page):
    """The commands and options of ours that a page names in backquotes, as words; not where one stands for several."""
    for line in re.findall(r"`inftop ([^`]+)`", prose(page)):
        if not re.search(r"[\[\]|…]|\bCOMMAND\b", line):
            yield shlex.split(line)


def parse(words):
    """Parse a command line without running it. Raises what the parser raises where it is wrong."""
    context = COMMAND.make_context("inftop", [word for word in words if word not in ACT_AT_ONCE])
    while left := [*context._protected_args, *context.args]:
        name, command, rest = context.command.resolve_command(context, left)
        context = command.make_context(name, rest, parent=context)
        if not hasattr(command, "resolve_command"):
            return


def problem(words, *, whole):
    """Why a command line is wrong; where it need not be ``whole``, arguments may be missing."""
    try:
        parse(words)
    except typer.Exit:
        return None
    except Exception as error:
        missing = type(error).__name__ == "MissingParameter" or "requires an argument" in str(error)
        return repr(error) if whole or not missing else None
    return None


@each_page
def test_every_path_that_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    named = set(NAMED.findall(text)) | {f"{folder}{name}" for folder, name in BESIDE.findall(text)}
    missing = sorted(one for one in named if not (ROOT / one).exists())
    assert not missing


@each_page
def test_every_link_leads_somewhere(page):
    dead = []
    for target in LINK.findall(prose(page)):
        place, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", place):
            continue
        file = (page.parent / place).resolve() if place else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(target)
    assert not dead


@each_page
def test_every_command_line_is_one_of_ours(page):
    found = [(words, True) for words in blocks(page)] + [(words, False) for words in names(page)]
    wrong = {shlex.join(words): why for words, whole in found if (why := problem(words, whole=whole))}
    assert not wrong


def test_the_readme_is_a_front_page():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < README_LINES


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {one.name for one in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {one for one in pages if f"]({one})" not in index} == set()


@pytest.mark.parametrize("line", ["nonsense", "export --sinse 1h", "keys steal", "probe --count none"])
def test_what_is_no_command_line_of_ours_is_found(line):
    assert problem(line.split(), whole=False)

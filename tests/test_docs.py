"""What the documents say of the code: every path they name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *ROOT.glob("CONTRIBUTING.md"), *sorted((ROOT / "docs").glob("*.md"))]
NAMED = re.compile(r"`((?:probes|tui|tests|docs)(?:/[\w.-]+)+)/?`")
BESIDE = re.compile(r"`((?:probes|tui|tests)(?:/[\w.-]+)*/)[\w.-]+`(?:,| and| or|, or) `([\w-]+\.(?:py|toml))`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    named = set(NAMED.findall(text)) | {f"{folder}{name}" for folder, name in BESIDE.findall(text)}
    missing = sorted(one for one in named if not (ROOT / one).exists())
    assert not missing

"""The browser shows what is on loopback and in files, says what was forbidden, and reaches nothing else."""

import pytest

from tests.browser import axe

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{0}'">
<script>{1}</script><script>document.title = "forbidden"</script></head>
<body><main><h1>Hello</h1><button>Press</button>
<img src="https://example.com/picture.png" alt=""></main></body></html>"""
SCRIPT = "addEventListener('keydown', (pressed) => console.log('pressed', pressed.key))"
HASH = "rUdOxaY0sFxJTFtu6v5hd6OFIsJ7KNiyktSQKulLMgc="


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(HASH, SCRIPT))
    return path


async def test_a_page_says_what_it_wrote_asked_for_and_was_forbidden(page, file):
    await page.goto(file.as_uri())
    assert await page.evaluate("document.title") == "A page"
    await page.press("a")
    await page.press("Tab")
    assert await page.evaluate("document.activeElement.tagName") == "BUTTON"
    assert "pressed a" in page.console
    assert any(one.startswith("script-src") for one in page.violations)
    assert any("picture.png" in one for one in page.violations)
    assert page.errors == []
    assert page.requests[0] == file.as_uri()


async def test_nothing_beyond_this_machine_is_reached(page):
    for url in ("http://example.com/", "http://192.0.2.1/"):
        with pytest.raises(OSError, match="ERR_NAME_NOT_RESOLVED"):
            await page.goto(url)


async def test_pictures_media_and_accessibility(page, file, tmp_path):
    await page.goto(file.as_uri())
    await page.emulate(scheme="dark", media="print")
    assert await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches && matchMedia('print').matches")
    picture = await page.screenshot(tmp_path / "page.png", 400, 300)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert await page.evaluate("innerWidth") == 400
    assert await axe.problems(page) == []
    await page.evaluate("document.documentElement.removeAttribute('lang')")
    assert [one.partition(" ")[0] for one in await axe.problems(page)] == ["html-has-lang"]
    assert await axe.problems(page, without=("html-has-lang",)) == []

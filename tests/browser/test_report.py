"""The report in a browser: on screens of three widths, dark and light, by keyboard, without script, and hostile."""

from datetime import UTC

import pytest

from probes.report.page import page as page_of_report
from probes.report.read import ReportQuestion, read_report
from tests.browser import axe
from tests.report.stores import NOW, SINCE, fill_hostile, fill_usual
from tests.report.test_page import HOSTILE
from tests.store.stores import url_of


@pytest.fixture
def written(tmp_path):
    """Write the page of a store that a function fills; where it is."""

    def write(fill, **options):
        url = url_of(tmp_path / "history.db")
        fill(url)
        report = read_report(url, ReportQuestion(since=SINCE, until=NOW, zone=UTC))
        file = tmp_path / "page.html"
        file.write_text(page_of_report(report, **options))
        return file.as_uri()

    return write


def quiet(page, address):
    """Whether a page asked for nothing but itself, and nothing was wrong with it."""
    return (page.requests, page.console, page.errors, page.violations) == ([address], [], [], [])


async def test_it_is_right_at_every_width_dark_and_light(page, written):
    address = written(fill_usual)
    await page.goto(address)
    for scheme in ("light", "dark"):
        for width in (360, 768, 1440):
            await page.emulate(scheme=scheme)
            await page.resize(width)
            assert await page.evaluate("document.documentElement.scrollWidth") == width
            await page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert await axe.problems(page) == []
    assert quiet(page, address)


async def test_hostile_words_run_nothing(page, written):
    address = written(lambda url: fill_hostile(url, HOSTILE))
    await page.goto(address)
    assert await page.evaluate("document.images.length") == 0
    assert await page.evaluate("document.scripts.length") == 1
    assert await axe.problems(page) == []
    assert quiet(page, address)


async def test_a_charts_values_are_read_by_arrow_keys_and_by_the_pointer(page, written):
    await page.resize(1280)
    await page.goto(written(fill_usual))
    await page.evaluate("document.querySelector('.plot').focus()")
    await page.press("Home")
    first = await page.evaluate("document.querySelector('.readout').textContent")
    await page.press("ArrowRight")
    second = await page.evaluate("document.querySelector('.readout').textContent")
    assert "TTFT p50" in first
    assert first != second
    assert await page.evaluate("document.querySelector('.plot').getAttribute('aria-valuetext')") == second
    box = await page.evaluate(
        "(b => [b.x, b.y, b.width, b.height])(document.querySelector('.plot').getBoundingClientRect())"
    )
    await page.evaluate("document.activeElement.blur()")
    await page.evaluate("scrollTo(0, document.querySelector('.plot').getBoundingClientRect().top - 100)")
    box = await page.evaluate(
        "(b => [b.x, b.y, b.width, b.height])(document.querySelector('.plot').getBoundingClientRect())"
    )
    await page.hover(box[0] + box[2] / 2, box[1] + box[3] / 2)
    assert await page.wait_for("document.querySelector('.readout').textContent.includes('TTFT p50')")


async def test_the_theme_is_chosen_and_all_cards_open(page, written):
    await page.goto(written(fill_usual))
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 247)"
    await page.evaluate("document.getElementById('theme').click()")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"
    await page.evaluate("document.getElementById('fold').click()")
    assert await page.evaluate("document.querySelectorAll('.ep[open]').length") in (0, 3)


async def test_a_page_that_is_not_rewritten_any_more_says_so_by_itself(page, written):
    await page.goto(written(fill_usual, every_s=60))
    assert await page.evaluate("document.getElementById('old').hidden") is (
        await page.evaluate(f"Date.now() < {NOW} + 180000")
    )
    await page.evaluate(f"document.getElementById('made').dateTime = new Date({NOW} - 1e12).toISOString()")
    assert "rewritten every 60 s" in await page.evaluate("document.querySelector('.when').textContent")


async def test_without_script_everything_can_be_read(page, written):
    await page.send("Emulation.setScriptExecutionDisabled", value=True)
    address = written(fill_usual)
    await page.goto(address)
    await page.send("Emulation.setScriptExecutionDisabled", value=False)
    assert await page.evaluate("document.querySelectorAll('[role=slider], #fold:not([hidden])').length") == 0
    assert await page.evaluate("document.querySelectorAll('svg.plot[role=img][aria-label]').length") == 9
    assert await axe.problems(page) == []


async def test_on_paper_it_is_light_and_nothing_is_folded(page, written):
    await page.goto(written(fill_usual))
    await page.emulate(scheme="dark", media="print")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 247)"
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert await page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    printed = await page.send("Page.printToPDF", printBackground=True)
    assert len(printed["data"]) > 10_000

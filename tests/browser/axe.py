"""axe-core, the usual checker of accessibility, on a page."""

from importlib.resources import files

from tests.browser.chromium import Page


async def problems(page: Page, *, without: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds wrong on a page as it stands, one line a place; rules named ``without`` are not asked."""
    # by the protocol, which no policy of the page forbids, as it would a script of somebody else's
    await page.evaluate(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8") + ";0")
    rules = "{" + ",".join(f"'{name}':{{enabled:false}}" for name in without) + "}"
    found = await page.evaluate(f"axe.run(document, {{rules: {rules}}}).then(done => done.violations)")
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {place['html'][:200]}"
        for one in found
        for place in one["nodes"]
    ]

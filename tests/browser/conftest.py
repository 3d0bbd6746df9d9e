"""One Chromium for all tests of this folder; a page, with a profile of its own, for each."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.browser.chromium import Page, page_of, running


@pytest.fixture(scope="session")
def chromium(tmp_path_factory) -> Iterator[str]:
    """The address of its DevTools protocol; skipped where the extra for these tests, or a browser, is not installed."""
    pytest.importorskip("axe_core_python", reason="pip install -e '.[browser]' brings what these tests need")
    with running(tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
async def page(chromium) -> AsyncIterator[Page]:
    """An empty page."""
    async with page_of(chromium) as one:
        yield one

"""The page of API keys over the dashboard, on a configuration of two endpoints; for tests."""

from contextlib import asynccontextmanager

from probes.config.file import ConfigFile
from tests.tui import fabric
from tests.tui.screen import showing
from tui.api_keys.model import KeyTest

CONFIG = """
[[endpoint]]
name = "groq/fast"
provider = "groq"
model = "m"

[[endpoint]]
name = "mistral/large"
provider = "mistral"
model = "m"
"""


@asynccontextmanager
async def opened(tmp_path, answer=None, **how):
    """The page over the dashboard, on a configuration of two endpoints; tests get ``answer``."""
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    asked = []

    async def test(name, secret):
        asked.append((name, secret.reveal() if secret else None))
        return answer or KeyTest(True, "taken: 3 models", fabric.NOW)

    async with showing(config=lambda: ConfigFile(path), **how) as shown:
        await shown.press("K")
        page = shown.app.screen
        page._test = test
        page.asked = asked
        await done(shown)
        yield shown


async def done(shown):
    """Until all that was begun is done."""
    while any(not worker.is_finished for worker in shown.app.workers):
        await shown.app.workers.wait_for_complete()
        await shown.settle()
    await shown.settle()

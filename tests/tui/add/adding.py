"""The dashboard on a configuration of a test, with our own commands faked; for tests of adding endpoints."""

from contextlib import asynccontextmanager

from probes.config.file import ConfigFile
from tests.samples import sample
from tests.tui import fabric
from tests.tui.fake_commands import FakeCommands, model, models
from tests.tui.screen import showing

OWN = """
# mine
[[endpoint]]
name = "groq/small-8b"   # the first
provider = "groq"
model = "small-8b"
"""

LISTED = (
    model("big-70b", context=131072, input_usd=0.6, output_usd=0.8),
    model("small-8b", context=8192, input_usd=0.05, output_usd=0.08),
    model("whisper-large"),
)


def answers(**more):
    """What our own commands say where nothing is wrong."""
    return {
        "models": models(*LISTED),
        "models --url": models(model("qwen3-8b"), provider=None, url="http://localhost:8000/v1"),
        "probe": sample(endpoint="x", ttft_ms=140.0, e2e_ms=480.0, tokens_per_s=812.0).to_json(),
        **more,
    }


@asynccontextmanager
async def adding(monkeypatch, folder, said=None, **options):
    """The dashboard with the first step of adding open; also the commands, and the configuration's path."""
    commands = FakeCommands(folder, said or answers())
    monkeypatch.setattr("tui.sources.own_commands.OwnCommands", lambda: commands)
    path = folder / "config.toml"
    if not path.exists():
        path.write_text(OWN)
    async with showing(*fabric.watched(2), config=lambda: ConfigFile(path), **options) as shown:
        await shown.press("A")
        yield shown, commands, path
    await commands.ended()

"""Messages lost and doubled when the notifier is killed (SIGKILL) at random instants of delivery.

    python -m tests.bench.delivery [--kills 1000] [--seed 1] [--store URL]

Four channels are told at once, each of its own incidents: a webhook, PagerDuty, an Alertmanager (loopback servers that
count) and a command. A doubled message is one that was sent again with the same key; at the command, which knows no
key, at most one a kill. Exits with 1 where anything is lost, out of order, or doubled past that.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.notify.killing import Tally, killing
from tests.store.stores import make


async def killed(url: str, folder: Path, kills: int, seed: int) -> dict[str, Tally]:
    """What became of the messages of each channel."""
    async with killing(url, folder, seed) as notifiers:
        for number in range(1, kills + 1):
            await notifiers.kill()
            if number % 100 == 0:
                print(f"{number} kills", flush=True)
        return await notifiers.finish()


def main() -> None:
    """Kill, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a PostgreSQL store; default: an SQLite one, made for this")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = wanted.store or f"sqlite:///{folder / 'history.db'}"
        if wanted.store is None:
            make(folder / "history.db")
        begun = time.monotonic()
        found = asyncio.run(killed(url, folder, wanted.kills, wanted.seed))
    print(f"{wanted.kills} kills in {time.monotonic() - begun:.0f} s, seed {wanted.seed}")
    print(f"{'channel':14}{'messages':>9}{'lost':>6}{'out of order':>14}{'sent again':>12}{'doubled past keys':>19}")
    bad = 0
    for channel, tally in found.items():
        past = max(0, tally.doubled - wanted.kills) if channel == "command" else tally.keys - tally.queued
        bad += tally.lost + tally.disordered + past
        print(f"{channel:14}{tally.queued:9}{tally.lost:6}{tally.disordered:14}{tally.doubled:12}{past:19}")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()

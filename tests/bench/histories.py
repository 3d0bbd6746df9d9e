"""Stores filled with made-up samples, for benchmarks of what a large history costs."""

import random
import time
from itertools import islice
from pathlib import Path

from probes.outcome import Outcome
from probes.sample import Sample
from probes.store.sink import Entry, Sink
from tests.samples import sample


def fill(path: Path, endpoints: list[str], count: int, interval_s: float, seed: int = 0) -> None:
    """Store ``count`` samples, the endpoints in turn, each every ``interval_s`` seconds, the newest just now."""
    rng = random.Random(seed)
    step_ms = interval_s * 1000 / len(endpoints)
    first_ms = time.time() * 1000 - count * step_ms
    sink = Sink(f"sqlite:///{path}")
    samples = (_made_up(rng, endpoints[i % len(endpoints)], round(first_ms + i * step_ms)) for i in range(count))
    while batch := list(islice(samples, 5_000)):
        sink.write([Entry(one, None) for one in batch], None)
    sink.close()


def _made_up(rng: random.Random, endpoint: str, at_ms: int) -> Sample:
    if rng.random() < 0.01:
        return sample(endpoint=endpoint, started_at=at_ms, outcome=Outcome.SERVER_ERROR, connection="warm")
    ttft, speed = rng.lognormvariate(5.3, 0.4), rng.gauss(900, 90)
    return sample(
        endpoint=endpoint,
        started_at=at_ms,
        connection="warm",
        http_status=200,
        ttft_ms=round(ttft, 3),
        tokens_per_s=round(speed, 3),
        e2e_ms=round(ttft + 256_000 / speed, 3),
        input_tokens=61,
        output_tokens=256,
        token_source="usage",
        chunks=256,
        requests_limit=1000,
        requests_remaining=rng.randrange(1000),
    )

"""Agreement of inftop's tokens/s and counts with llama.cpp's own; ``python -m tests.bench.llamacpp_agreement``.

The server times from its first token (which comes out of the prefill) to its last and divides n - 1 tokens by that,
as inftop does. Older versions of llama.cpp divide n: theirs is then high by n / (n - 1), 0.8 % here.
"""

import asyncio
import tempfile
from pathlib import Path
from statistics import median

from probes.outcome import Outcome
from probes.sample import Sample
from tests.referee.model import PACED, write
from tests.referee.prober import configuration, probing
from tests.referee.server import serving

PROBES = 20
AIM = 0.02
"""Relative difference of tokens/s at the median."""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "paced.gguf", PACED)
        with serving(folder / "paced.gguf") as url:
            pairs = asyncio.run(probe(configuration(folder, url)))
    print_table(pairs)


async def probe(config: Path) -> list[tuple[Sample, dict]]:
    """Each probe's sample and the closing record of the server, after one probe that warms both sides up."""
    pairs = []
    # cold: the server closes after every stream, and a request in flight meanwhile would be lost
    async with probing(config, connection="cold") as referee:
        await referee.prober.probe(None)
        for _ in range(PROBES):
            sample = (await referee.prober.probe(None)).sample
            if sample.outcome is not Outcome.OK or sample.tokens_per_s is None:
                raise SystemExit(f"a probe failed: {sample.outcome}, {sample.outcome_detail}")
            pairs.append((sample, referee.tap.last))
    return pairs


def print_table(pairs: list[tuple[Sample, dict]]) -> None:
    """One line per probe, then what they come to."""
    print("probe  tokens: server  inftop  tokens/s: server    inftop  difference  gap p50  p95  max, ms")
    differences = []
    exact = 0
    for number, (sample, last) in enumerate(pairs, start=1):
        theirs, ours = last["timings"]["predicted_per_second"], sample.tokens_per_s
        counts = {last["timings"]["predicted_n"], last["usage"]["completion_tokens"], sample.output_tokens}
        exact += len(counts) == 1
        differences.append(ours / theirs - 1)
        print(
            f"{number:5}  {last['timings']['predicted_n']:14}  {sample.output_tokens:6}  {theirs:16.3f}  {ours:8.3f}"
            f"  {differences[-1]:+10.4%}  {sample.gap_p50_ms:7.1f}  {sample.gap_p95_ms:3.0f}  {sample.gap_max_ms:3.0f}"
        )
    sizes = sorted(map(abs, differences))
    speed = median(last["timings"]["predicted_per_second"] for _, last in pairs)
    print(f"\nserver's speed, median    {speed:.1f} tokens/s")
    print(f"difference, median        {median(sizes):.4%} (aim: {AIM:.0%}), signed {median(differences):+.4%}")
    print(f"difference, worst         {sizes[-1]:.4%}")
    print(f"token counts equal        {exact} of {len(pairs)}")
    if median(sizes) > AIM or exact < len(pairs):
        raise SystemExit("the aim is missed")


if __name__ == "__main__":
    main()

"""``python -m tests.chaos.fuzz_decoders PARSER SECONDS``: fuzz one parser of `tests.parsers`, guided by what it covers.

Needs atheris (``pip install atheris``). Ends with 0 where the parser kept its promise, else with what broke it.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["probes"]):
    from tests.parsers import PARSERS, seeds

LONGEST = 4096
MEMORY_MB = 1024


def main(name: str, seconds: int) -> None:
    """Fuzz for so long, beginning with good input."""
    with tempfile.TemporaryDirectory() as corpus:
        for place, good in enumerate(seeds(name)):
            (Path(corpus) / str(place)).write_bytes(good)
        options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-rss_limit_mb={MEMORY_MB}", "-timeout=10"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={tempfile.gettempdir()}/", corpus], PARSERS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

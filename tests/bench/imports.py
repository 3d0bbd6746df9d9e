"""What an import costs: a store exported, imported into an empty one, exported again, and the exports compared.

    python -m tests.bench.imports [--samples 1000000] [--formats csv jsonl parquet]

The store is made up of 20,000 samples, copied. What counts are rows/s and the resident memory. It ends with exit code 1
where the second export differs.
"""

import argparse
import filecmp
import sys
import tempfile
from pathlib import Path

from tests.bench.export import BASE, measure
from tests.bench.histories import fill, multiply
from tests.bench.startup import NAMES


def same(one: Path, other: Path) -> bool:
    """Whether two exports hold the same: text byte for byte, Parquet as a table."""
    if one.suffix != ".parquet":
        return filecmp.cmp(one, other, shallow=False)
    import pyarrow.parquet

    return pyarrow.parquet.read_table(one).equals(pyarrow.parquet.read_table(other))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--formats", nargs="+", default=["csv", "jsonl", "parquet"])
    wanted = parser.parse_args()
    differs = False
    with tempfile.TemporaryDirectory() as one:
        folder = Path(one)
        store = folder / "history.db"
        fill(store, NAMES, min(BASE, wanted.samples), 60.0)
        multiply(store, max(1, wanted.samples // BASE))
        for kind in wanted.formats:
            first, target, second = folder / f"first.{kind}", folder / f"{kind}.db", folder / f"second.{kind}"
            measure(inftop(folder, store, "export", "--since", "99999d", "--format", kind, "-o", str(first)))
            cost = measure(inftop(folder, target, "history", "import", str(first)))
            again = measure(inftop(folder, target, "history", "import", str(first)))
            measure(inftop(folder, target, "export", "--since", "99999d", "--format", kind, "-o", str(second)))
            equal = same(first, second)
            differs |= not equal
            print(
                f"{kind:<8} {wanted.samples / cost.wall:8,.0f} rows/s  {cost.wall:7.1f} s  {cost.most:4.0f} MB  "
                f"again {again.wall:6.1f} s  exported again: {'the same' if equal else 'DIFFERENT'}",
                flush=True,
            )
            for path in (first, second, target):
                path.unlink()
    sys.exit(differs)


def inftop(folder: Path, store: Path, *words: str) -> list[str]:
    """A command line on a store."""
    config = folder / f"{store.stem}.toml"
    config.write_text(f'[store]\nurl = "sqlite:///{store}"\n[[endpoint]]\nname = "e"\nprovider = "vllm"\nmodel = "m"\n')
    return [sys.executable, "-m", "probes", "--config", str(config), *words]


if __name__ == "__main__":
    main()

"""Baselines in the store: what is kept is read back, the newest of each."""

from contextlib import closing

from msgspec.structs import replace

from probes.alerts.detect.baseline import Baseline
from probes.store.alerts.baselines import keep_baselines, newest_baseline, read_baselines
from probes.store.read.reader import StoreReader

BASELINE = Baseline(
    metric="ttft_ms", made_at=7, since=1, n=900, p10=(90.5,) * 168, p50=(100.0,) * 168, p90=(140.0,) * 168, worst=1.6
)
KEY = ("fra", "groq", "warm", "ttft_ms")


def test_what_is_kept_is_read_back_the_newest_of_each(store):
    with closing(StoreReader(store)) as reader:
        assert read_baselines(reader) == {}
        assert newest_baseline(reader) == (0, 0)
    keep_baselines(store, {KEY: BASELINE, ("fra", "other", "warm", "ttft_ms"): BASELINE})
    newer = replace(BASELINE, made_at=8, peaks={495_000: 180.0})
    keep_baselines(store, {KEY: newer})
    with closing(StoreReader(store)) as reader:
        assert read_baselines(reader, ["groq"]) == {KEY: newer}
        assert len(read_baselines(reader)) == 2
        assert read_baselines(reader, []) == {}
        assert newest_baseline(reader) == (2, 8)

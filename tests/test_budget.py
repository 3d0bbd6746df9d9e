"""The day's ledger: what counts, when it is over, and that a new day begins at 00:00 UTC."""

from probes.budget import DAY_MS, Budget, Ledger, midnight
from probes.endpoint import Price
from probes.sample import epoch_ms
from tests.samples import endpoint, sample

NOON = epoch_ms("2026-11-20T12:00:00Z")
TODAY = NOON // DAY_MS


def test_tokens_and_money_add_up():
    ledger = Ledger(Budget(), TODAY)
    ledger = ledger.add(sample(started_at=NOON, input_tokens=50, output_tokens=200, cost_usd=0.01), endpoint())
    ledger = ledger.add(sample(started_at=NOON, output_tokens=100), endpoint())
    assert (ledger.tokens, ledger.usd) == (350, 0.01)


def test_it_is_over_when_a_cap_is_reached():
    ledger = Ledger(Budget(usd_per_day=1.0, tokens_per_day=1000), TODAY)
    assert ledger.over is None
    assert "1,000 tokens" in (ledger.add(sample(started_at=NOON, output_tokens=1000), endpoint()).over or "")
    assert "$1.00" in (ledger.add(sample(started_at=NOON, cost_usd=1.0), endpoint()).over or "")


def test_without_caps_it_is_never_over():
    assert Ledger(Budget(None, None), TODAY, usd=1e9, tokens=10**12).over is None


def test_a_cap_of_nothing_spends_nothing():
    assert Ledger(Budget(usd_per_day=0), TODAY).over


def test_a_new_day_begins_at_midnight_utc():
    ledger = Ledger(Budget(tokens_per_day=10), TODAY).add(sample(started_at=NOON, output_tokens=10), endpoint())
    last, first = epoch_ms("2026-11-20T23:59:59.999Z"), epoch_ms("2026-11-21T00:00:00Z")
    assert ledger.on(last).over
    assert not ledger.on(first).over
    assert ledger.add(sample(started_at=first, output_tokens=3), endpoint()).tokens == 3
    assert midnight(last) == epoch_ms("2026-11-20T00:00:00Z")
    assert midnight(first) == first


def test_a_clock_set_back_over_midnight_does_not_spend_a_day_twice():
    first = epoch_ms("2026-11-21T00:00:00Z")
    ledger = Ledger(Budget(tokens_per_day=10), TODAY).add(sample(started_at=NOON, output_tokens=10), endpoint())
    ledger = ledger.add(sample(started_at=first + 1000, output_tokens=4), endpoint())
    assert not ledger.on(first + 2000).over
    assert ledger.on(first - 1000).over, "yesterday again, and its budget is spent"
    assert ledger.on(first - 1000).on(first + 3000).tokens == 4


def test_a_probe_over_midnight_counts_for_its_day_and_forgets_nothing_of_the_new_one():
    first = epoch_ms("2026-11-21T00:00:00Z")
    ledger = Ledger(Budget(), TODAY).add(sample(started_at=first, output_tokens=4), endpoint())
    ledger = ledger.add(sample(started_at=first - 1, output_tokens=7), endpoint())
    assert (ledger.on(first).tokens, ledger.on(first - 1).tokens) == (4, 7)


def test_output_that_could_not_be_counted_counts_up_to_the_cap_and_one_that_was_counted_as_it_is():
    priced = endpoint(max_output_tokens=200, price=Price(1.0, 10.0))
    estimated = sample(started_at=NOON, input_tokens=50, output_tokens=20, token_source="estimate", cost_usd=0.00025)
    ledger = Ledger(Budget(), TODAY).add(estimated, priced)
    assert (ledger.tokens, round(ledger.usd, 9)) == (250, 0.00205)  # 50 × 1 + 200 × 10, of a million
    longer = sample(started_at=NOON, output_tokens=300, token_source="estimate")
    assert Ledger(Budget(), TODAY).add(longer, priced).tokens == 300
    counted = sample(started_at=NOON, output_tokens=20, token_source="usage")
    assert Ledger(Budget(), TODAY).add(counted, priced).tokens == 20

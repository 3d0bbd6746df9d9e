"""What an engine's probes cost where the budget comes in blocks, and where it is handed on to other processes."""

import time
from dataclasses import dataclass, field

from probes.budget.blocks import HolderLedger
from probes.budget.cap import DAY_MS, Budget, Ledger
from probes.budget.charge import Spent, highest_charge
from probes.engine.spending import Spending
from tests.samples import endpoint, sample

WATCHED = endpoint()
MOST = highest_charge(WATCHED)


def today() -> int:
    return time.time_ns() // 1_000_000 // DAY_MS


@dataclass
class Source:
    """Grants what is wanted out of so many tokens."""

    left: int
    asked: list[tuple[int, Spent]] = field(default_factory=list)

    async def take(self, day: int, wanted: Spent, least: Spent) -> Spent | None:
        self.asked.append((day, wanted))
        if self.left < least.tokens:
            return None
        granted = min(wanted.tokens, self.left)
        self.left -= granted
        return Spent(wanted.usd, granted)

    async def give_back(self, day: int, unspent: Spent) -> None:
        self.left += unspent.tokens


def holder(source: Source) -> Spending:
    return Spending(HolderLedger(Budget(None, 10**9), today()), [WATCHED], source)


async def test_a_block_is_there_before_the_first_probe_and_the_rest_goes_back():
    source = Source(10 * MOST.tokens)
    spending = holder(source)
    assert spending.refusal(WATCHED) is not None
    await spending.begin()
    assert spending.refusal(WATCHED) is None
    release = spending.reserve(WATCHED)
    spending.add(sample(started_at=time.time_ns() // 1_000_000, input_tokens=5, output_tokens=20), WATCHED)
    release()
    await spending.close()
    assert source.left == 10 * MOST.tokens - spending.ledger.tokens


async def test_what_is_handed_on_is_asked_for_and_what_a_lost_holder_had_is_not_given_back():
    source = Source(100 * MOST.tokens)
    spending = holder(source)
    await spending.begin()
    granted = 0
    for _ in range(200):
        if (block := await spending.take("worker 1", today(), MOST, MOST)) is None:
            break
        granted += block.tokens
    assert granted == 100 * MOST.tokens, "all of it was had from the source, and no more"
    assert spending.refusal(WATCHED) is not None
    assert "the day's budget" in (spending.over([WATCHED]) or "")
    spending.give_back("worker 1", today(), Spent(0.0, 3 * MOST.tokens))
    assert spending.refusal(WATCHED) is None
    await spending.close()
    assert source.left == 3 * MOST.tokens


async def test_what_a_holder_has_is_set_aside_in_the_budget_of_the_day():
    spending = Spending(Ledger(Budget(None, 20 * MOST.tokens), today()), [WATCHED])
    while (await spending.take("worker 1", today(), MOST, MOST)) is not None:
        pass
    assert spending.ledger.tokens == 0
    assert "probes that run" in (spending.refusal(WATCHED) or "")
    measured = sample(started_at=time.time_ns() // 1_000_000, input_tokens=5, output_tokens=20)
    spending.add(measured, WATCHED)
    spending.note_spent("worker 1", measured, WATCHED)
    assert spending.refusal(WATCHED) is not None, "what is spent of a block is not counted twice"
    assert spending.ledger.tokens > 0

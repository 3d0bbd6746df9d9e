"""What servers were seen to send, byte for byte over real sockets, in every dialect: how the probe of it ends."""

import pytest

from probes.endpoint import Price
from probes.outcome import Outcome
from tests.replay import RECORDS, answer, replay

TEXTS = ("One", " two", " three.")
every_dialect = pytest.mark.parametrize("dialect", RECORDS)


@every_dialect
async def test_usage_of_zeros_beside_text_is_not_known(dialect: str):
    probed = await replay(dialect, answer(dialect, *TEXTS, counts=(0, 0)), price=Price(1.0, 10.0))
    sample = probed.sample
    assert (sample.outcome, probed.text) == (Outcome.OK, "One two three.")
    assert (sample.input_tokens, sample.output_tokens, sample.token_source) == (None, 4, "estimate")
    assert (sample.tokens_per_s, sample.e2e_tokens_per_s) == (None, None)
    assert sample.cost_usd, "what was not counted was not free"
    assert "0 output tokens for 14 characters" in (sample.outcome_detail or "")


@every_dialect
async def test_a_count_beside_an_input_of_0_is_believed_without_it(dialect: str):
    sample = (await replay(dialect, answer(dialect, *TEXTS, counts=(0, 20)))).sample
    assert (sample.input_tokens, sample.output_tokens, sample.token_source) == (None, 20, "usage")

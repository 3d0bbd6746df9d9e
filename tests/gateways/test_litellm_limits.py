"""LiteLLM's proxy before a provider that refuses: its provider's words and headers still say how long to wait."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from probes.keys.secret import Secret
from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from probes.wire.credentials import Credentials
from tests.end_to_end.test_refusals import REFUSALS, Refusal
from tests.gateways.programs import litellm
from tests.samples import endpoint
from tests.servers.ports import free_port
from tests.servers.raw_server import Client, Script, response, serving

KEY = "sk-litellm-1234567890abcdef"
ROWS = {
    "cerebras": ("Cerebras, a day", "openai", "/v1", Outcome.RATE_LIMITED),
    "groq": ("Groq, a day that fills up steadily", "openai", "/v1", Outcome.RATE_LIMITED),
    "gemini": ("Gemini, a day", "gemini", "/v1beta", Outcome.QUOTA),
}
REST = """
general_settings: { master_key: os.environ/LITELLM_KEY }
litellm_settings: { telemetry: false, num_retries: 0 }
router_settings: { num_retries: 0, disable_cooldowns: true }
"""


def refusing(row: Refusal) -> Script:
    async def script(client: Client) -> None:
        await client.request()
        await client.say(response(row.status, "Content-Type: application/json", *row.headers, body=body))

    body = json.dumps(row.body).encode()
    return script


async def test_a_days_quota_is_waited_for_through_it(tmp_path):
    refusals = {name: REFUSALS[row[0]]() for name, row in ROWS.items()}
    models, port = "", free_port()
    async with AsyncExitStack() as servers:
        for name, (_, kind, path, _) in ROWS.items():
            behind = await servers.enter_async_context(serving(refusing(refusals[name])))
            told = f'model: {kind}/{name}, api_base: "http://127.0.0.1:{behind}{path}", api_key: none'
            models += f"\n  - model_name: {name}\n    litellm_params: {{ {told} }}"
        program = litellm(f"model_list:{models}{REST}", tmp_path, port, {"LITELLM_KEY": KEY})
        await asyncio.to_thread(program.__enter__)
        servers.push_async_callback(asyncio.to_thread, program.__exit__, None, None, None)
        url = f"http://127.0.0.1:{port}/v1"
        for name, refusal in refusals.items():
            prober = Prober(endpoint(model=name, base_url=url), load_dialect("openai_chat"), transport_to(url, None))
            sample = (await prober.probe(Credentials(Secret(KEY)))).sample
            prober.close()
            assert (sample.outcome, sample.limited_by) == (ROWS[name][3], "requests per day"), sample.outcome_detail
            assert sample.retry_after_s == pytest.approx(refusal.wait_s, abs=120)

"""The demo's fast hosts: Cerebras, Groq, SambaNova, Fireworks and Together; all of Groq is away at times."""

from typing import Final

from probes.endpoint import Price
from probes.simulator.behaviour import Behaviour, HealthSchedule, Incident
from probes.simulator.demo.model import LONG, DemoModel
from probes.simulator.distribution import Constant, LogNormal, Normal
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limiter import Allowance

DAY_S: Final = 86_400.0

_CEREBRAS: Final = (
    DemoModel(
        "cerebras",
        "cerebras/gpt-oss-120b",
        "gpt-oss-120b",
        Behaviour(
            ttft_ms=LogNormal(185, 0.18),
            tokens_per_s=Normal(2_600, 260),
            tokens_per_chunk=Normal(2.9, 1.1),
            output_tokens=LONG,
            reasoning_tokens=Normal(60, 15),
            usage="finish",
            timings="cerebras",
            limits="cerebras",
            allowance=Allowance(14_400, 1_000_000, requests_window_s=DAY_S),
        ),
        interval=2.0,
        group="gpt-oss-120b",
        price=Price(0.35, 0.75),
        connection="both",
    ),
    DemoModel(
        "cerebras",
        "cerebras/zai-glm-4.7",
        "zai-glm-4.7",
        Behaviour(
            ttft_ms=LogNormal(260, 0.25),
            tokens_per_s=Normal(1_350, 180),
            tokens_per_chunk=Normal(2.6, 1.0),
            output_tokens=LONG,
            usage="finish",
            timings="cerebras",
            limits="cerebras",
            allowance=Allowance(1_000, 150_000, requests_window_s=DAY_S),  # it lasts for half an hour
        ),
        interval=2.0,
        price=Price(2.25, 2.75),
    ),
)

_GROQ_OUT: Final = HealthSchedule(
    (
        Incident(
            250,
            40,
            600,
            fault=ReplacedResponse(503, {"error": {"message": "Service unavailable", "type": "internal_server_error"}}),
        ),
    )
)
"""The whole provider is away for a while: one incident with all of its endpoints."""

_GROQ: Final = (
    DemoModel(
        "groq",
        "groq/gpt-oss-120b",
        "openai/gpt-oss-120b",
        Behaviour(
            ttft_ms=LogNormal(150, 0.3),
            tokens_per_s=Normal(500, 35),
            output_tokens=LONG,
            reasoning_tokens=Normal(60, 15),
            usage="x_groq",
            timings="groq",
            health=_GROQ_OUT,
            limits="groq",
            allowance=Allowance(14_400, 30_000, requests_window_s=DAY_S),
        ),
        group="gpt-oss-120b",
        price=Price(0.15, 0.60),
    ),
    DemoModel(
        "groq",
        "groq/llama-3.1-8b",
        "llama-3.1-8b-instant",
        Behaviour(
            ttft_ms=LogNormal(95, 0.25),
            tokens_per_s=Normal(560, 40),
            output_tokens=LONG,
            usage="x_groq",
            timings="groq",
            health=_GROQ_OUT,
            limits="groq",
            allowance=Allowance(14_400, 8_000, requests_window_s=DAY_S),
        ),
        group="llama-3.1-8b",
        price=Price(0.05, 0.08),
    ),
)

_OTHERS: Final = (
    DemoModel(
        "sambanova",
        "sambanova/llama-3.1-8b",
        "Meta-Llama-3.1-8B-Instruct",
        Behaviour(
            ttft_ms=LogNormal(210, 0.3),
            tokens_per_s=Normal(1_000, 80),
            tokens_per_chunk=Normal(4, 1.2),
            output_tokens=LONG,
            usage_when_asked=True,
            timings="sambanova",
            limits="sambanova",
            allowance=Allowance(1_440),
        ),
        interval=6.0,
        group="llama-3.1-8b",
        price=Price(0.10, 0.20),
    ),
    DemoModel(
        "fireworks",
        "fireworks/gpt-oss-120b",
        "accounts/fireworks/models/gpt-oss-120b",
        Behaviour(
            ttft_ms=LogNormal(340, 0.25),
            tokens_per_s=Normal(380, 45),
            tokens_per_chunk=Normal(2.4, 0.8),
            output_tokens=LONG,
            reasoning_tokens=Normal(60, 15),
            reasoning_style="reasoning_content",
            usage_when_asked=True,
            timings="fireworks",
            limits="fireworks",
            allowance=Allowance(6_000, 120_000),
        ),
        interval=6.0,
        group="gpt-oss-120b",
        price=Price(0.15, 0.60),
    ),
    DemoModel(
        "together",
        "together/gpt-oss-20b",
        "openai/gpt-oss-20b",
        Behaviour(
            ttft_ms=LogNormal(300, 0.3),
            tokens_per_s=Normal(210, 25),
            tokens_per_chunk=Normal(1.8, 0.6),
            output_tokens=Constant(200),
            reasoning_tokens=Normal(50, 12),
            usage_when_asked=True,
            limits="together",
            allowance=Allowance(600, 180_000),
        ),
        interval=6.0,
        group="gpt-oss-20b",
        price=Price(0.05, 0.20),
    ),
)

FAST: Final = (*_CEREBRAS, *_GROQ, *_OTHERS)

"""The demo's proprietary models: OpenAI, Anthropic and Gemini, each in its own dialect."""

from typing import Final

from probes.simulator.behaviour import Behaviour, HealthSchedule, Incident
from probes.simulator.demo.model import LONG, DemoModel
from probes.simulator.distribution import Constant, LogNormal, Normal
from probes.simulator.limiter import Allowance

PROPRIETARY: Final = (
    DemoModel(
        "openai-ws",
        "openai/codex-spark",
        "gpt-5.3-codex-spark",
        Behaviour(
            ttft_ms=LogNormal(230, 0.22),
            ttfb_ms=Normal(120, 20),
            tokens_per_s=Normal(1_000, 90),
            output_tokens=LONG,
            timings="openai",
            service_tier="default",
            limits="openai",
            allowance=Allowance(500, 30_000),
        ),
    ),
    DemoModel(
        "openai-responses",
        "openai/gpt-5.6-fast",
        "gpt-5.6",
        Behaviour(
            ttft_ms=LogNormal(640, 0.25),
            ttfb_ms=Normal(170, 25),
            tokens_per_s=Normal(125, 12),
            tokens_per_chunk=Normal(1.8, 0.7),
            output_tokens=Constant(180),
            reasoning_tokens=Constant(20),
            timings="openai",
            service_tier="priority",  # what this family calls the fast tier; GPT-6 says "fast"
            limits="openai",
            allowance=Allowance(500, 30_000),
            health=HealthSchedule((Incident(32, 20, 110, slower=2.5),)),
        ),
        interval=5.0,
        body={"service_tier": "fast"},
    ),
    DemoModel(
        "anthropic",
        "anthropic/opus",
        "claude-opus-5",
        Behaviour(
            ttft_ms=LogNormal(1_050, 0.2),
            ttfb_ms=Normal(350, 60),
            tokens_per_s=Normal(65, 6),
            tokens_per_chunk=Normal(5, 1.5),
            output_tokens=Constant(120),
            limits="anthropic",
            allowance=Allowance(50, 30_000),
        ),
        interval=5.0,
    ),
    DemoModel(
        "anthropic",
        "anthropic/opus-fast",
        "claude-opus-5:fast",
        Behaviour(
            ttft_ms=LogNormal(980, 0.2),
            ttfb_ms=Normal(350, 60),
            tokens_per_s=Normal(170, 14),
            tokens_per_chunk=Normal(5, 1.5),
            output_tokens=Constant(180),
            served_model="claude-opus-5",
            limits="anthropic_fast",
            allowance=Allowance(50, 30_000),
            health=HealthSchedule((Incident(18, 16, 60, slower=2.2, speed="standard"),)),
        ),
        interval=6.0,
        body={"speed": "fast"},
    ),
    DemoModel(
        "gemini",
        "gemini/flash",
        "gemini-3.5-flash",
        Behaviour(
            ttft_ms=LogNormal(520, 0.25),
            ttfb_ms=Normal(180, 25),
            tokens_per_s=Normal(210, 25),
            tokens_per_chunk=Normal(24, 5),
            output_tokens=Constant(190),
            reasoning_tokens=Normal(50, 12),
            allowance=Allowance(requests=10),
        ),
        body={"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
    ),
)

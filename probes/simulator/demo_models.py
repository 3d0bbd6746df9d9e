"""Demo models: what ``inftop demo`` serves, at public headline speeds, each in the tongue of its provider.

Speeds are the vendors' own claims or captured rates (`reference/providers.md`), prices those of public lists where
they are plain. Troubles come in minutes, not in days, so that a viewer sees them; with the intervals as they are no
probe overlaps the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from probes.endpoint import Price
from probes.simulator.behaviour import Behaviour
from probes.simulator.distribution import Constant, LogNormal, Normal, Sometimes
from probes.simulator.fault import Cut, ErrorEvent, Reply, Unanswered
from probes.simulator.limiter import Allowance
from probes.simulator.mood import Mood, Spell

DAY_S: Final = 86_400.0
OUTPUT_TOKENS: Final = 256


@dataclass(frozen=True, slots=True)
class DemoModel:
    """One simulated model and its endpoint; ``name`` is the second half of the endpoint's, ``interval`` in seconds."""

    provider: str
    name: str
    model: str
    behaviour: Behaviour
    dialect: str = "openai_chat"
    interval: float = 3.0
    group: str | None = None
    price: Price | None = None
    body: Mapping[str, Any] | None = None


_LIMITED: Final = Reply(
    429,
    {
        "error": {
            "message": "Your account request reached max concurrency: 3, please try again after 3 seconds",
            "type": "rate_limit_reached_error",
        }
    },
    {"retry-after": "3"},
)

_OVERLOADED: Final = Reply(503, {"error": {"message": "The engine is currently overloaded.", "type": "overloaded"}})

_LONG: Final = Constant(OUTPUT_TOKENS)

_CEREBRAS: Final = (
    DemoModel(
        "cerebras",
        "gpt-oss-120b",
        "gpt-oss-120b",
        Behaviour(
            ttft_ms=LogNormal(185, 0.18),
            tokens_per_s=Normal(2_600, 260),
            tokens_per_chunk=Normal(2.9, 1.1),
            output_tokens=_LONG,
            reasoning_tokens=Normal(60, 15),
            usage="finish",
            timings="cerebras",
            limits="cerebras",
            allowance=Allowance(14_400, 1_000_000, requests_window_s=DAY_S),
        ),
        interval=2.0,
        group="gpt-oss-120b",
        price=Price(0.35, 0.75),
    ),
    DemoModel(
        "cerebras",
        "zai-glm-4.7",
        "zai-glm-4.7",
        Behaviour(
            ttft_ms=LogNormal(260, 0.25),
            tokens_per_s=Normal(1_350, 180),
            tokens_per_chunk=Normal(2.6, 1.0),
            output_tokens=_LONG,
            usage="finish",
            timings="cerebras",
            limits="cerebras",
            allowance=Allowance(1_000, 150_000, requests_window_s=DAY_S),  # it lasts for half an hour
        ),
        interval=2.0,
        price=Price(2.25, 2.75),
    ),
)

_GROQ: Final = (
    DemoModel(
        "groq",
        "gpt-oss-120b",
        "openai/gpt-oss-120b",
        Behaviour(
            ttft_ms=LogNormal(150, 0.3),
            tokens_per_s=Normal(500, 35),
            output_tokens=_LONG,
            reasoning_tokens=Normal(60, 15),
            usage="x_groq",
            timings="groq",
            limits="groq",
            allowance=Allowance(14_400, 30_000, requests_window_s=DAY_S),
        ),
        group="gpt-oss-120b",
        price=Price(0.15, 0.60),
    ),
    DemoModel(
        "groq",
        "llama-3.1-8b",
        "llama-3.1-8b-instant",
        Behaviour(
            ttft_ms=LogNormal(95, 0.25),
            tokens_per_s=Normal(560, 40),
            output_tokens=_LONG,
            usage="x_groq",
            timings="groq",
            limits="groq",
            allowance=Allowance(14_400, 8_000, requests_window_s=DAY_S),
        ),
        price=Price(0.05, 0.08),
    ),
)

_PROPRIETARY: Final = (
    DemoModel(
        "openai",
        "codex-spark",
        "gpt-5.3-codex-spark",
        Behaviour(
            ttft_ms=LogNormal(230, 0.22),
            ttfb_ms=Normal(120, 20),
            tokens_per_s=Normal(1_000, 90),
            output_tokens=_LONG,
            timings="openai",
            service_tier="default",
            limits="openai",
            allowance=Allowance(500, 30_000),
        ),
        dialect="openai_responses_ws",
    ),
    DemoModel(
        "anthropic",
        "opus",
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
        dialect="anthropic",
        interval=5.0,
    ),
    DemoModel(
        "anthropic",
        "opus-fast",
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
            mood=Mood((Spell(18, 16, 60, slower=2.2, speed="standard"),)),
        ),
        dialect="anthropic",
        interval=6.0,
        body={"speed": "fast"},
    ),
    DemoModel(
        "gemini",
        "flash",
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
        dialect="gemini",
        interval=4.0,
        body={"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
    ),
)

_LOCAL: Final = (
    DemoModel(
        "ollama",
        "gemma",
        "gemma3:12b",
        Behaviour(
            load_ms=Sometimes(0.08, LogNormal(2_400, 0.15)),
            ttft_ms=LogNormal(130, 0.15),
            queue_share=0.0,
            tokens_per_s=Normal(48, 3),
            output_tokens=Constant(90),
        ),
        dialect="ollama",
        interval=6.0,
    ),
)

_TROUBLED: Final = (
    DemoModel(
        "moonshot",
        "kimi-k2-turbo",
        "kimi-k2-turbo-preview",
        Behaviour(
            ttft_ms=LogNormal(620, 0.3),
            tokens_per_s=Normal(40, 5),
            tokens_per_chunk=Normal(1.6, 0.5),
            output_tokens=Constant(100),
            reasoning_tokens=Constant(24),
            reasoning_style="reasoning_content",
            usage="choice",
            mood=Mood((Spell(24, 18, 95, fault=_LIMITED, share=0.85),)),
        ),
        interval=5.0,
    ),
    DemoModel(
        "inception",
        "mercury-2",
        "mercury-2",
        Behaviour(
            ttft_ms=LogNormal(480, 0.25),
            tokens_per_s=Normal(900, 120),
            tokens_per_chunk=Constant(24),
            output_tokens=_LONG,
            mood=Mood((Spell(62, 12, 170, fault=_OVERLOADED), Spell(74, 9, 170, fault=Unanswered()))),
        ),
        price=Price(0.25, 0.75),
    ),
    DemoModel(
        "mistral",
        "small",
        "mistral-small-latest",
        Behaviour(
            ttft_ms=LogNormal(240, 0.3),
            tokens_per_s=Normal(150, 15),
            tokens_per_chunk=Normal(1.5, 0.6),
            output_tokens=Constant(200),
            usage="finish",
            limits="mistral",
            allowance=Allowance(tokens=500_000),
            mood=Mood((Spell(0, 1, 1, share=0.03, fault=Cut(after=40)),)),
        ),
    ),
    DemoModel(
        "deepseek",
        "v4-flash",
        "deepseek-v4-flash",
        Behaviour(
            ttft_ms=LogNormal(900, 0.45),
            ttfb_ms=Normal(70, 12),
            tokens_per_s=Normal(85, 12),
            output_tokens=Constant(110),
            reasoning_tokens=Constant(30),
            reasoning_style="reasoning_content",
            usage="finish",
            role_first=False,  # nothing but comments while the request is queued
            comment=" keep-alive",
            comment_every_ms=250,
        ),
        interval=5.0,
    ),
    DemoModel(
        "openrouter",
        "gpt-oss-120b",
        "openai/gpt-oss-120b:nitro",
        Behaviour(
            ttft_ms=LogNormal(420, 0.35),
            ttfb_ms=Normal(110, 20),
            tokens_per_s=Normal(330, 45),
            tokens_per_chunk=Normal(1.8, 0.7),
            output_tokens=_LONG,
            reasoning_tokens=Normal(60, 15),
            usage_extra={"cost": 0.00012},
            comment=" OPENROUTER PROCESSING",
            comment_every_ms=80,
            served_by="Fireworks",
            request_id_header="x-generation-id",
            mood=Mood(
                (
                    Spell(14, 10, 130, share=0.7, fault=ErrorEvent(30, "openrouter", "Provider returned error", 502)),
                    Spell(38, 40, 150, slower=3.0),
                )
            ),
        ),
        group="gpt-oss-120b",
        body={"provider": {"only": ["fireworks"], "allow_fallbacks": False}},
    ),
)

DEMO_MODELS: Final = (*_CEREBRAS, *_GROQ, *_PROPRIETARY, *_TROUBLED, *_LOCAL)

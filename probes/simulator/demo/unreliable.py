"""The demo's unreliable hosts, which limit, fail, queue and break off, each in its own way."""

from typing import Final

from probes.endpoint import Price
from probes.simulator.behaviour import Behaviour, HealthSchedule, Incident
from probes.simulator.demo.model import LONG, DemoModel
from probes.simulator.distribution import Constant, LogNormal, Normal
from probes.simulator.faults.fault import ClosedUnanswered, CutOff, ErrorEvent, ReplacedResponse
from probes.simulator.limiter import Allowance

_LIMITED: Final = ReplacedResponse(
    429,
    {
        "error": {
            "message": "Your account request reached max concurrency: 3, please try again after 3 seconds",
            "type": "rate_limit_reached_error",
        }
    },
    {"retry-after": "3"},
)

_OVERLOADED: Final = ReplacedResponse(
    503, {"error": {"message": "The engine is currently overloaded.", "type": "overloaded"}}
)

UNRELIABLE: Final = (
    DemoModel(
        "moonshot",
        "moonshot/kimi-k2-turbo",
        "kimi-k2-turbo-preview",
        Behaviour(
            ttft_ms=LogNormal(620, 0.3),
            tokens_per_s=Normal(40, 5),
            tokens_per_chunk=Normal(1.6, 0.5),
            output_tokens=Constant(100),
            reasoning_tokens=Constant(24),
            reasoning_style="reasoning_content",
            usage="choice",
            health=HealthSchedule((Incident(24, 18, 95, fault=_LIMITED, share=0.85),)),
        ),
        interval=5.0,
    ),
    DemoModel(
        "inception",
        "inception/mercury-2",
        "mercury-2",
        Behaviour(
            ttft_ms=LogNormal(480, 0.25),
            tokens_per_s=Normal(900, 120),
            tokens_per_chunk=Constant(24),
            output_tokens=LONG,
            health=HealthSchedule(
                (Incident(50, 42, 210, fault=_OVERLOADED), Incident(92, 8, 210, fault=ClosedUnanswered()))
            ),
        ),
        price=Price(0.25, 0.75),
    ),
    DemoModel(
        "mistral",
        "mistral/small",
        "mistral-small-latest",
        Behaviour(
            ttft_ms=LogNormal(240, 0.3),
            tokens_per_s=Normal(150, 15),
            tokens_per_chunk=Normal(1.5, 0.6),
            output_tokens=Constant(200),
            usage="finish",
            limits="mistral",
            allowance=Allowance(tokens=500_000),
            health=HealthSchedule((Incident(0, 1, 1, share=0.03, fault=CutOff(after=40)),)),
        ),
    ),
    DemoModel(
        "deepseek",
        "deepseek/v4-flash",
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
        "openrouter/gpt-oss-120b",
        "openai/gpt-oss-120b:nitro",
        Behaviour(
            ttft_ms=LogNormal(420, 0.35),
            ttfb_ms=Normal(110, 20),
            tokens_per_s=Normal(330, 45),
            tokens_per_chunk=Normal(1.8, 0.7),
            output_tokens=LONG,
            reasoning_tokens=Normal(60, 15),
            usage_extra={"cost": 0.00012},
            comment=" OPENROUTER PROCESSING",
            comment_every_ms=80,
            served_by="Fireworks",
            request_id_header="x-generation-id",
            health=HealthSchedule(
                (
                    Incident(
                        14, 10, 130, share=0.7, fault=ErrorEvent(30, "openrouter", "Provider returned error", 502)
                    ),
                    Incident(110, 75, 300, slower=3.0),
                )
            ),
        ),
        group="gpt-oss-120b",
        body={"provider": {"only": ["fireworks"], "allow_fallbacks": False}},
    ),
)

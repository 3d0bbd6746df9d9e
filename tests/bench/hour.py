"""A made-up hour of seven endpoints in which something happens, as the messages an engine would send; for a picture."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from probes.endpoint import Price
from probes.feed.messages import EndpointFacts, EngineStatus, Frame, Hello, MonitorStatus
from probes.outcome import Outcome
from probes.sample import Sample
from probes.store.status import StoreStatus

NOW: Final = 1_795_012_425_000
"""2026-11-18T14:33:45Z"""

INTERVAL: Final = 20.0
SECONDS: Final = 3700
OUTPUT_TOKENS: Final = 256


@dataclass(frozen=True)
class Habit:
    """How one endpoint is when it is well: TTFT in ms, decode speed in tokens/s, price in USD per million tokens."""

    name: str
    model: str
    ttft: float
    speed: float
    group: str
    price: Price | None
    tier: str | None = None
    spread: float = 0.09


OSS, OPUS = "gpt-oss-120b", "claude-opus"

HABITS: Final = (
    Habit("cerebras/gpt-oss-120b", "gpt-oss-120b", 190, 2500, OSS, Price(0.35, 0.75)),
    Habit("groq/gpt-oss-120b", "openai/gpt-oss-120b", 150, 490, OSS, Price(0.15, 0.60)),
    Habit("fireworks/gpt-oss-120b", "accounts/fireworks/gpt-oss-120b", 320, 260, OSS, Price(0.15, 0.60)),
    Habit("openrouter/gpt-oss-120b", "openai/gpt-oss-120b", 470, 210, OSS, Price(0.10, 0.50), spread=0.16),
    Habit("anthropic/opus-fast", "claude-opus", 640, 172, OPUS, Price(30, 150), "fast"),
    Habit("anthropic/opus", "claude-opus", 900, 66, OPUS, Price(5, 25)),
    Habit("local/llama.cpp", "qwen3-8b", 46, 78, "qwen3-8b", None, spread=0.05),
)


def hour() -> tuple[Hello, Frame]:
    """What an engine would say that has watched these endpoints for an hour."""
    samples = sorted((one for habit in HABITS for one in _samples(habit)), key=lambda one: one.started_at)
    hello = Hello("0.1.0", 4242, "sqlite:///history.db", True, tuple(_facts(habit) for habit in HABITS))
    engine = EngineStatus(
        StoreStatus("ok", stored=len(samples)),
        loop_lag_ms=0.4,
        usd_today=1.12,
        tokens_today=412_000,
        usd_cap=5.0,
        tokens_cap=5_000_000,
    )
    return hello, Frame(NOW, engine, tuple(_monitors()), tuple(samples))


def _facts(habit: Habit) -> EndpointFacts:
    provider = habit.name.partition("/")[0]
    origin = "http://127.0.0.1:8080" if provider == "local" else f"https://api.{provider}.example"
    key = None if provider == "local" else f"{provider.upper()}_API_KEY"
    return EndpointFacts(
        name=habit.name,
        provider=provider,
        model=habit.model,
        dialect="anthropic" if provider == "anthropic" else "openai_chat",
        group=habit.group,
        connection="warm",
        interval=INTERVAL,
        key=key,
        price=habit.price,
        tier=habit.tier,
        origin=origin,
    )


def _monitors() -> Iterator[MonitorStatus]:
    for place, habit in enumerate(HABITS):
        limited = habit.name.startswith("groq")
        yield MonitorStatus(
            habit.name,
            next_due=NOW + 2_000 + place * 2_700,
            blocked_until=NOW + 38_000 if limited else None,
            blocked_why="429: tokens per minute used up, retry after 41 s" if limited else None,
        )


def _samples(habit: Habit) -> Iterator[Sample]:
    """One every 20 s; those of the limited endpoint end with its block."""
    dice = random.Random(habit.name)
    at = NOW - SECONDS * 1000 + dice.randrange(int(INTERVAL * 1000))
    while at < NOW - 1_500:
        yield _sample(habit, at, (NOW - at) / 60_000, dice)
        at += int(INTERVAL * 1000)


def _sample(habit: Habit, at: int, ago: float, dice: random.Random) -> Sample:
    """The sample that started ``at``, so many minutes ``ago``: here is what happens in the hour."""
    ttft = habit.ttft * dice.lognormvariate(0, habit.spread)
    speed = habit.speed * dice.lognormvariate(0, habit.spread / 3)
    outcome, detail, status, tier, build = Outcome.OK, None, 200, habit.tier, None
    match habit.name.partition("/")[0]:
        case "openrouter" if ago < 9:  # an outage that lasts; one before, that ended
            outcome, detail, status = Outcome.OVERLOADED, "503: no provider has capacity", 503
        case "openrouter" if 36 < ago < 41:
            outcome, detail, status = Outcome.CONNECT, "connection refused", 0
        case "groq" if ago < 3 or (3 < ago < 21 and dice.random() < 0.35):
            outcome, detail, status = Outcome.RATE_LIMITED, "429: tokens per minute used up", 429
        case "fireworks" if ago < 16:  # a queue grows
            ttft, speed = ttft * (1 + (16 - ago) / 3.2), speed * (1 - (16 - ago) / 28)
        case "cerebras":
            build = "fp_71c2" if ago < 27 else "fp_3a90"
            speed *= 0.72 if ago < 27 else 1
        case "anthropic" if habit.tier and ago < 12:  # fast mode is refused: the standard tier serves
            tier, speed, ttft = "standard", speed * 0.4, ttft * 1.35
        case "local" if 22 < ago < 26:  # somebody else uses the machine
            ttft, speed = ttft * 4.5, speed * 0.45
    ok = outcome is Outcome.OK
    local = habit.price is None
    decode = OUTPUT_TOKENS / speed * 1000
    network = dice.gauss(14, 0.6) if not local else 0.1
    left = max(ago - 3, 0) / 57 if habit.name.startswith("groq") else 0.6 + 0.3 * dice.random()
    return Sample(
        started_at=at,
        vantage="local",
        endpoint=habit.name,
        provider=habit.name.partition("/")[0],
        dialect="anthropic" if habit.name.startswith("anthropic") else "openai_chat",
        model=habit.model,
        outcome=outcome,
        outcome_detail=detail,
        http_status=status or None,
        connection="warm",
        ttfb_ms=ttft * 0.8 if ok else None,
        ttft_ms=ttft if ok else None,
        ttfa_ms=ttft if ok else None,
        e2e_ms=ttft + decode if ok else None,
        input_tokens=64 if ok else None,
        output_tokens=OUTPUT_TOKENS if ok else None,
        token_source="usage" if ok else None,
        output_chars=int(OUTPUT_TOKENS * 4.4) if ok else None,
        tokens_per_s=speed if ok else None,
        chunks=OUTPUT_TOKENS // 2 if ok else None,
        gap_max_ms=decode / OUTPUT_TOKENS * 5 if ok else None,
        server_queue_ms=max(ttft * 0.8 - habit.ttft * 0.5, 0) if ok and habit.group == OSS else None,
        server_prefill_ms=habit.ttft * 0.3 if ok and habit.group == OSS else None,
        requests_limit=None if local else 1000.0,
        requests_remaining=None if local else float(int(1000 * (0.75 + 0.2 * dice.random()))),
        requests_reset_s=None if local else 60.0,
        tokens_limit=None if local else 250_000.0,
        tokens_remaining=None if local else float(int(250_000 * left)),
        tokens_reset_s=None if local else 41.0,
        served_tier=tier if ok else None,
        served_fingerprint=build if ok else None,
        finish_reason="stop" if ok else None,
        cost_usd=(64 * habit.price.input + OUTPUT_TOKENS * habit.price.output) / 1e6 if ok and habit.price else None,
        clock="kernel",
        error_bound_ms=0.02 if ok else None,
        trusted=True if ok else None,
        round_trip_ms=network if ok else None,
    )

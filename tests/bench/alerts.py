"""How often alerts are false, and how soon trouble is seen, by our rule and by those that other monitors use."""

import argparse
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from probes.alerts.detect.baseline import DAY_MS, HOUR_MS, Baseline
from probes.alerts.detect.calibration import Calibration
from probes.alerts.detect.judge import EndpointJudge
from probes.alerts.detect.observation import Observation
from probes.alerts.settings import AlertSettings
from probes.alerts.state import State
from probes.outcome import Outcome
from probes.stats.sketch import Sketch

START: Final = 1_767_571_200_000 // DAY_MS * DAY_MS
PAST, DAYS = 28, 28
MINUTE: Final = 60_000
METRICS: Final = ("ttft_ms", "tokens_per_s")


def ar1(dice, count, steps, half_life, sd):
    """``count`` drifts of ``steps`` steps with a half-life in steps."""
    memory = 0.5 ** (1 / half_life)
    noise = dice.standard_normal((steps, count)) * sd * math.sqrt(1 - memory**2)
    level = dice.standard_normal(count) * sd
    for row in noise:
        level = level * memory + row
        row[:] = level
    return noise.T


def season(at):
    """By how much the working hours slow an endpoint at instants in ms: 35 %, with an hour to rise and to fall."""
    hour = at / HOUR_MS % 24
    day = (at // DAY_MS + 3) % 7
    bump = np.clip(np.minimum(hour - 8, 18 - hour), 0, 1)
    return 1 + 0.35 * np.where(day < 5, bump, 0)


@dataclass
class World:
    """The samples of one endpoint: instants, both metrics, and whether each failed; and when its blips were."""

    at: np.ndarray
    ttft: np.ndarray
    speed: np.ndarray
    failed: np.ndarray
    blips: list[tuple[int, int]]
    rate: np.ndarray


def heavy(dice, shape):
    """Times with a median of about 1: log-normal, and three of a hundred with an infinite variance."""
    found = np.exp(0.30 * dice.standard_normal(shape))
    tail = dice.random(shape) < 0.03
    return np.where(tail, found * (1 + dice.pareto(1.5, shape)), found)


def worlds(seed, count, drift, interval):
    dice = np.random.default_rng([seed, round(drift * 1000), interval])
    step = interval * 1000
    steps = (PAST + DAYS) * DAY_MS // step
    base = START + np.arange(steps) * step
    both = []
    for _ in METRICS:
        level = ar1(dice, count, steps, 40 * MINUTE / step, drift) + ar1(dice, count, steps, DAY_MS / step, drift)
        both.append(np.exp(level) * heavy(dice, (count, steps)))
    for number in range(count):
        at = base + int(dice.integers(step))
        bump = season(at)
        ttft = 400 * both[0][number] * bump
        speed = 120 / (both[1][number] * bump)
        blips, when = [], START
        while when < at[-1]:
            when += int(dice.exponential(3 * DAY_MS))
            blips.append((when, when + int(dice.uniform(2, 6) * MINUTE)))
        rate = np.full(steps, 0.003)
        for begin, end in blips:
            rate[(at >= begin) & (at < end)] = 0.7
        yield World(at, ttft, speed, dice.random(steps) < rate, blips, rate)


def observations(world, low=0, high=None):
    for at, ttft, speed, failed in zip(
        world.at[low:high].tolist(), world.ttft[low:high].tolist(), world.speed[low:high].tolist(), world.failed[low:high].tolist(), strict=True
    ):
        yield Observation(at, Outcome.SERVER_ERROR, "warm") if failed else Observation(at, Outcome.OK, "warm", ttft, speed)


def with_confirmations(judge, one, rate, dice):
    """Observe a sample, and those that it makes the engine send; the judgements."""
    yield judge.observe(one), one.at
    for wait in (5_000, 20_000):
        if judge.wants_confirmation:
            at = one.at + wait
            again = Observation(at, Outcome.SERVER_ERROR if dice.random() < rate else Outcome.OK, "warm", confirm=True)
            yield judge.observe(again), at


def calibrations(world, interval):
    """Each night's baselines: the day, and the dictionary."""


def baselines_by_night(world, make=Calibration, spoilt_of=None):
    """Walk through the past night by night: the baselines in effect from each midnight on."""
    made = {metric: make(metric) for metric in METRICS}
    found = {}
    columns = {"ttft_ms": world.ttft, "tokens_per_s": world.speed}
    hours = world.at // HOUR_MS
    edges = np.flatnonzero(np.diff(hours)) + 1
    begins = [0, *edges.tolist()]
    ends = [*edges.tolist(), len(hours)]
    night = (START // DAY_MS + 1) * DAY_MS
    for begin, end in zip(begins, ends, strict=True):
        start = int(hours[begin]) * HOUR_MS
        while start >= night:
            found[night] = {("warm", metric): one for metric in METRICS if (one := made[metric].make(night)) is not None}
            night += DAY_MS
        good = ~world.failed[begin:end]
        at = world.at[begin:end][good].tolist()
        for metric, column in columns.items():
            values = column[begin:end][good].tolist()
            for when, value in zip(at, values, strict=True):
                made[metric].observe(when, value)
            if values:
                made[metric].add_hour(start, Sketch.of(values))
    return found


def alerts(world, baselines, interval, settings):
    """Our alerts in the days that are not the past: when each opened, and in what state; one is open for 60 min more."""
    judge = EndpointJudge("here", "a", "warm", interval, settings, {})
    dice = np.random.default_rng(7)
    begin = START + PAST * DAY_MS
    first = int(np.searchsorted(world.at, begin - 6 * HOUR_MS))
    night, found, is_open, until = 0, [], False, 0
    rates = world.rate[first:].tolist()
    for one, rate in zip(observations(world, first), rates, strict=True):
        if one.at >= night:
            night = one.at // DAY_MS * DAY_MS
            judge.use(baselines.get(night, {}))
            night += DAY_MS
        for told, at in with_confirmations(judge, one, rate, dice):
            if told is None:
                continue
            bad = told.notify and told.state in (State.SLOW, State.FAILING, State.DOWN)
            if bad and not is_open and at >= begin and at > until:
                found.append((at, told.state.value, told.metric))
            if is_open and not bad:
                until = at + HOUR_MS
            is_open = bad
    return found


def in_blip(world, at):
    return any(begin <= at < end + 10 * MINUTE for begin, end in world.blips)


FAULTS: Final = {"1.5x": (1.5, 1, 0), "2x": (2, 1, 0), "3x": (3, 1, 0), "half speed": (1, 0.5, 0), "10 %": (1, 1, 0.1), "30 %": (1, 1, 0.3), "down": (1, 1, 1)}


def delays(world, baselines, interval, settings, fault, plants, dice):
    """Minutes and probes until somebody is told of a planted fault, inf after six hours; None where told before."""
    times, speed, rate = FAULTS[fault]
    step = interval * 1000
    last = len(world.at) - 6 * HOUR_MS // step - 60
    first = PAST * DAY_MS // step
    for place in dice.integers(first, last, plants).tolist():
        at = int(world.at[place])
        judge = EndpointJudge("here", "a", "warm", interval, settings, baselines[at // DAY_MS * DAY_MS])
        for one in observations(world, place - 60, place):
            judge.observe(one)
        if any(one.notify for one in judge.judgements):
            continue
        found = (math.inf, math.inf)
        for count, one in enumerate(observations(world, place, place + 6 * HOUR_MS // step), 1):
            failed = one.outcome is not Outcome.OK or dice.random() < rate
            one = Observation(one.at, Outcome.SERVER_ERROR, "warm") if failed else Observation(one.at, Outcome.OK, "warm", one.ttft_ms * times, one.tokens_per_s * speed)
            for told, when in with_confirmations(judge, one, rate, dice):
                if told is not None and told.notify and told.state is not State.OK and found[0] == math.inf:
                    found = ((when - at) / MINUTE, count)
            if found[0] < math.inf:
                break
        yield found

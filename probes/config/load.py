"""Configuration: the file `config.toml`, found, read strictly and resolved into endpoints."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from probes.budget.cap import Budget
from probes.config import checks as check
from probes.config.endpoints import ProbeSettings, read_endpoint, read_settings
from probes.config.file import ConfigFile, find_config, shipped, why_no_commands
from probes.config.prompts import NamedPrompt
from probes.config.select import UnknownEndpoint, UnknownGroup, choose, in_group
from probes.config.table import Table, parse
from probes.config_error import ConfigError, Problem
from probes.diagnosis.reachability import DEFAULT_PLAN, SHORTEST_INTERVAL_S, ReachabilityPlan, origin_of
from probes.endpoint import Endpoint
from probes.route import Proxy, Route, via_of
from probes.store import retention
from probes.store.retention import Retention
from probes.text import line

__all__ = ["Config", "ConfigError", "UnknownEndpoint", "UnknownGroup", "choose", "find_config", "in_group", "load"]

HERE: Final = "local"
"""The vantage of a recorder that was given none."""


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration, everything resolved: preset ← ``[probe]`` defaults ← an endpoint's own values.

    ``store_url`` is None where the default store is meant; it may hold a password. ``vantage`` names the place that
    is recorded from. ``endpoints`` has the disabled ones too, in the file's order.
    """

    path: Path
    store_url: str | None
    budget: Budget
    endpoints: tuple[Endpoint, ...]
    reachability_plan: ReachabilityPlan = DEFAULT_PLAN
    prompts: tuple[NamedPrompt, ...] = ()
    retention: Retention = retention.USUAL
    vantage: str = HERE


def load(found: ConfigFile | Path) -> Config:
    """The configuration of a file; a mere path is one that is named. Raises ConfigError with every problem of it."""
    found = found if isinstance(found, ConfigFile) else ConfigFile(found)
    path, problems = found.path, list[Problem]()
    file = str(path)
    values, opened = parse(path)
    no_commands = why_no_commands(found, opened)
    top = Table(values, problems, file, no_commands=no_commands)
    store_url, vantage, kept = _store(top.table("store"))
    budget = _budget(top.table("budget"))
    settings = _settings(top.table("probe"))
    reachability_plan = _reachability_plan(top.table("control"), settings.route)
    prompts = _prompts(top.table("race"), problems, file)
    endpoints = []
    for number, one in enumerate(top.tables("endpoint"), start=1):
        table = Table(one, problems, file, _where(number, one), no_commands=no_commands)
        endpoints.append(read_endpoint(table, settings))
    top.close()
    if not values.get("endpoint"):
        top.blame("", "nothing to watch: add an [[endpoint]] table")
    for name, count in Counter(one.name for one in endpoints if one.name).items():
        if count > 1:
            top.blame("endpoint", f"{count} endpoints are named {name!r}; names must be unique")
    if problems:
        raise ConfigError(tuple(problems))
    return Config(path, store_url, budget, tuple(endpoints), reachability_plan, prompts, kept, vantage)


def race_prompts(read: Config) -> tuple[NamedPrompt, ...]:
    """The prompts to race on: the configuration's own, else those of the shipped one."""
    return read.prompts or load(shipped()).prompts


def _where(number: int, values: dict[str, Any]) -> str:
    """An endpoint in the words of an error: its place among the [[endpoint]] tables, counted from 1, and its name."""
    name = values.get("name")
    return f'endpoint[{number}] "{line(name, 60)}"' if isinstance(name, str) else f"endpoint[{number}]"


def _store(table: Table) -> tuple[str | None, str, Retention]:
    url = table.take("url", check.store_url, None)
    vantage = table.take("vantage", check.label, HERE)
    kept = {
        name: table.take(name, check.kept_for(least), getattr(retention.USUAL, name))
        for name, least in retention.LEAST.items()
    }
    table.close()
    return url, vantage, Retention(**kept)


def _budget(table: Table) -> Budget:
    usual = Budget()
    budget = Budget(
        usd_per_day=table.take("usd_per_day", check.number, usual.usd_per_day),
        tokens_per_day=table.take("tokens_per_day", check.whole(0), usual.tokens_per_day),
    )
    table.close()
    return budget


def _reachability_plan(table: Table, route: Route) -> ReachabilityPlan:
    """``route`` is that of ``[probe]``: the reference goes the usual way."""
    plan = ReachabilityPlan(
        table.take("reference", _origin, DEFAULT_PLAN.reference), table.take("every", _every, DEFAULT_PLAN.every), route
    )
    table.close()
    if plan.reference is not None and _is_forwarded(plan.reference, route):
        table.blame("reference", "must be https:// behind an http:// proxy: else only the proxy would be reached")
    if plan.reference is not None and plan.every is None:
        table.blame("reference", 'is never looked at with every = "off"')
    return plan


def _is_forwarded(reference: str, route: Route) -> bool:
    try:
        via = via_of(route, reference)
    except ValueError:  # of the environment's proxy: the endpoints say so
        return False
    return isinstance(via, Proxy) and via.forwards


def _origin(value: object) -> str:
    """A host to connect to, as an address without a path: nothing is ever asked of it."""
    url = check.base_url(value)
    if urlsplit(url).scheme not in {"http", "https"} or urlsplit(url).path:
        raise ValueError(f'must be a host, "https://host" or "http://host:port", no path, not {check.shown(url)}')
    return origin_of(url)


def _every(value: object) -> float | None:
    """How often, seconds; None for "off"."""
    return None if value == "off" else check.duration(SHORTEST_INTERVAL_S)(value)


def _prompts(race: Table, problems: list[Problem], file: str) -> tuple[NamedPrompt, ...]:
    """The prompts of ``[[race.prompt]]``, in the file's order."""
    found: list[NamedPrompt] = []
    for number, values in enumerate(race.tables("prompt"), start=1):
        table = Table(values, problems, file, f"race.prompt[{number}]")
        one = NamedPrompt(
            name=table.take("name", check.label, ""),
            text=table.take("text", check.text, ""),
            expect=table.take("expect", check.regex, None),
        )
        for key, value in (("name", one.name), ("text", one.text)):
            if not value and key not in values:
                table.blame(key, "is missing")
        if one.name and one.name in {other.name for other in found}:
            table.blame("name", f"another prompt is named {one.name!r}; names must be unique")
        table.close()
        found.append(one)
    race.close()
    return tuple(found)


def _settings(table: Table) -> ProbeSettings:
    settings = read_settings(table, ProbeSettings())
    table.close()
    return settings

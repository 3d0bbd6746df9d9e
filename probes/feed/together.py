"""Together: what several recorders that share a vantage say of themselves, as the word of one; pure."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from probes.feed.messages import AlertStatus, EngineStatus, RecorderStatus
from probes.store.status import StoreStatus


def together(statuses: Sequence[RecorderStatus]) -> RecorderStatus:
    """The status of all recorders of a vantage, the one heard last first: each endpoint as who measures it says."""
    first, *others = statuses
    if not others:
        return first
    oldest_first = list(reversed(statuses))
    measured = {one.endpoint: status for status in oldest_first for one in status.monitors}
    facts = {one.name: one for status in oldest_first for one in status.endpoints or ()}
    for name, status in measured.items():
        facts |= {one.name: one for one in status.endpoints or () if one.name == name}
    ordered = dict.fromkeys(one.name for status in statuses for one in status.endpoints or ())
    files = [one.configuration for one in statuses if one.configuration is not None]
    return RecorderStatus(
        engine=_engines([one.engine for one in statuses]),
        monitors=tuple({one.endpoint: one for status in oldest_first for one in status.monitors}.values()),
        endpoints=tuple(facts[name] for name in ordered) if ordered else first.endpoints,
        configuration=next((one for one in files if one.problem is not None), next(iter(files), None)),
        alerts=_alerts([one.alerts for one in statuses if one.alerts is not None]),
    )


def _engines(engines: Sequence[EngineStatus]) -> EngineStatus:
    """Engines as one: what is worst of any, and the most that any knows of what the day has cost them all."""
    reasons = [one.over_budget for one in engines]
    checks = {one.origin: one for one in sorted((one for each in engines for one in each.checks), key=lambda c: c.at)}
    return structs.replace(
        engines[0],
        store=_stores([one.store for one in engines]),
        paused=all(one.paused for one in engines),
        loop_lag_ms=max((one.loop_lag_ms for one in engines if one.loop_lag_ms is not None), default=None),
        usd_today=max(one.usd_today for one in engines),
        tokens_today=max(one.tokens_today for one in engines),
        over_budget=reasons[0] if all(reasons) else None,
        checks=tuple(checks.values()),
        notice=next((one.notice for one in engines if one.notice is not None), None),
        outages=tuple(outage for one in engines for outage in one.outages),
    )


def _stores(stores: Sequence[StoreStatus]) -> StoreStatus:
    worst = next((one for one in stores if one.state != "ok"), stores[0])
    return replace(
        worst,
        stored=max(one.stored for one in stores),
        waiting=sum(one.waiting for one in stores),
        dropped=sum(one.dropped for one in stores),
        waiting_since=min((one.waiting_since for one in stores if one.waiting_since is not None), default=None),
        notice=next((one.notice for one in stores if one.notice), ""),
    )


def _alerts(alerts: Sequence[AlertStatus]) -> AlertStatus | None:
    if not alerts:
        return None
    oldest_first = list(reversed(alerts))
    judgements = {(one.endpoint, one.lane): one for each in oldest_first for one in each.judgements}
    incidents = {one.id: one for each in oldest_first for one in each.incidents}
    objectives = {one.endpoint: one for each in oldest_first for one in each.objectives}
    return AlertStatus(
        tuple(judgements.values()),
        tuple(sorted(incidents.values(), key=lambda one: -one.opened_at)),
        any(one.enabled for one in alerts),
        "; ".join(dict.fromkeys(one.problem for one in alerts if one.problem)) or None,
        tuple(objectives.values()),
    )

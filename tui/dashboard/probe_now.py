"""What "probe now" comes to for an endpoint as it is: whether it is of any use, and what a person is told; pure."""

from typing import NamedTuple

from probes.feed.messages import EngineStatus
from probes.format import until
from tui.state.view import EndpointView


class ProbeNow(NamedTuple):
    """Whether a probe is asked for, after keys are looked up again if ``looks_for_keys``; what is said of it.

    ``is_warning``: it will hardly come to a measurement.
    """

    sends: bool
    words: str
    is_warning: bool = False
    looks_for_keys: bool = False


def probe_now(view: EndpointView, engine: EngineStatus | None, now: int) -> ProbeNow:
    """What comes of probing an endpoint now (``now`` in ms since the epoch).

    The engine probes one that is paused or backed off when a person says so, never one over the day's budget.
    """
    name, monitor = view.name, view.monitor
    if not view.facts.enabled:
        return ProbeNow(False, f"{name} is switched off by enabled = false in the configuration. E edits it.", True)
    if monitor.running:
        return ProbeNow(False, f"{name} is being probed already")
    if view.state == "no key":
        return ProbeNow(True, f"{missing_key(name, view.facts.key, view.why)} Looking once more …", True, True)
    if engine is not None and engine.over_budget:
        why = f"Nothing is sent: {engine.over_budget}. It goes on at 00:00 UTC, or with another [budget]."
        return ProbeNow(False, why, True)
    if monitor.paused or (engine is not None and engine.paused):
        again = "p" if monitor.paused else "P"
        return ProbeNow(True, f"Probing {name} once; it stays paused, {again} resumes it")
    if monitor.blocked_until is not None and monitor.blocked_until > now:
        return ProbeNow(
            True, f"Probing {name} in spite of its back-off, which ends in {until(monitor.blocked_until, now)}"
        )
    return ProbeNow(True, f"Probing {name}")


def missing_key(name: str, key: str | None, why: str = "") -> str:
    """That an endpoint has no key, and the way on: on this screen, or in a shell."""
    if key is None:
        return f"{name} has no key{f': {why}' if why else ''}. K shows the keys."
    return f"{name} has no key. K sets {key}; or leave, export {key}='your key', and start again."

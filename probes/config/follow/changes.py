"""What differs between two readings of a configuration; pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from probes.alerts.settings import AlertSettings
from probes.config.file import shipped
from probes.config.load import Config
from probes.endpoint import Endpoint
from probes.race.request import NamedPrompt


@dataclass(frozen=True, slots=True)
class EndpointChanges:
    """The names of endpoints that came, went, or are configured in another way; each in the order of the new file."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def endpoint_changes(before: Iterable[Endpoint], after: Iterable[Endpoint]) -> EndpointChanges:
    """What differs between two lists of endpoints; one that is switched on or off came or went."""
    old = {one.name: one for one in before if one.enabled}
    new = {one.name: one for one in after if one.enabled}
    return EndpointChanges(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name, one in new.items() if name in old and old[name] != one),
    )


def settings_changed(before: Config, after: Config) -> tuple[str, ...]:
    """The tables beside the endpoints that differ and are taken over while inftop runs, as the file names them."""
    pairs = (
        ("[budget]", before.budget, after.budget),
        ("[control]", before.reachability_plan, after.reachability_plan),
        ("[[race.prompt]]", _own_prompts(before), _own_prompts(after)),
        ("[screen]", _fixed(before), _fixed(after)),
        ("[alerts]", _without_tables(before.alerts), _without_tables(after.alerts)),
        ("[[channel]]", before.alerts.channels, after.alerts.channels),
        ("[[maintenance]]", before.alerts.maintenance, after.alerts.maintenance),
    )
    return tuple(name for name, old, new in pairs if old != new)


def restart_needed(running: Config, newest: Config) -> tuple[str, ...]:
    """The keys that differ from those an engine was started with, and that it cannot take over."""
    pairs = (
        ("[store] url", running.store_url, newest.store_url),
        ("[store] vantage", running.vantage, newest.vantage),
        ("[store] share", running.share, newest.share),
        ("[control] models", running.models_every, newest.models_every),
        ("[engine] workers", running.workers, newest.workers),
        ("[store] retention", running.retention, newest.retention),
    )
    return tuple(name for name, old, new in pairs if old != new)


def _own_prompts(config: Config) -> tuple[NamedPrompt, ...]:
    """The prompts of a file of one's own: where it has none, races are on the shipped ones, as before there was one."""
    return () if config.path == shipped().path else config.prompts


def _fixed(config: Config) -> dict[str, str]:
    """What ``[screen]`` fixes, without the lines where that stands."""
    return {option: fixed.value for option, fixed in config.screen.items()}


def _without_tables(alerts: AlertSettings) -> AlertSettings:
    """What ``[alerts]`` itself says."""
    return replace(alerts, channels=(), maintenance=())

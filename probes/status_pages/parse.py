"""Reads the public JSON of status pages: Atlassian Statuspage's, and incident.io's; what is not understood is left out.

Statuspage: ``/api/v2/incidents.json``, the 50 newest incidents with all their updates; every page documents it at
``/api`` (https://www.githubstatus.com/api), and pages of incident.io answer there in the same form. incident.io's own
widget: ``/api/v1/summary``, what is under way now (https://docs.incident.io/status-pages/embedding).
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from probes import text
from probes.status_pages.post import MAINTENANCE, Post

MOST_POSTS: Final = 500
"""Posts of one page that are read; the newest incidents come first."""

_LONGEST: Final = 300
_SHORTEST: Final = 80
"""Characters of what a post says, and of a name."""

_MOST_COMPONENTS: Final = 8

_IMPACTS: Final = {
    "operational": "none",
    "degraded_performance": "minor",
    "partial_outage": "major",
    "full_outage": "critical",
    "under_maintenance": MAINTENANCE,
}
"""What the impacts of incident.io are called on a Statuspage."""

_PLANNED: Final = ("in_progress_maintenances", "scheduled_maintenances")


class NotAPage(ValueError):  # noqa: N818  # reads as what it says
    """A body that is no status page's; its text says why."""


def parse(body: bytes, page: str) -> tuple[Post, ...]:
    """The posts in a body of the page at that address, oldest first. Raises NotAPage."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise NotAPage("not JSON") from None
    if not isinstance(said, dict):
        raise NotAPage("not an object")
    if isinstance(said.get("incidents"), list):
        found = _of_statuspage(said["incidents"], page)
    elif isinstance(said.get("ongoing_incidents"), list):
        found = _of_widget(said, page)
    else:
        raise NotAPage("neither incidents nor ongoing_incidents in it")
    newest = [post for post, _ in zip(found, range(MOST_POSTS), strict=False)]
    return tuple(sorted({one.id: one for one in newest}.values(), key=lambda one: (one.at, one.id)))


def _of_statuspage(incidents: list[Any], page: str) -> Iterator[Post]:
    for incident in _objects(incidents):
        about = _name(incident.get("id"))
        if not about:
            continue
        impact = _name(incident.get("impact")) or "none"
        title = _name(incident.get("name"), _LONGEST)
        components = _names(incident.get("components"))
        updates = list(_objects(incident.get("incident_updates"))) or [incident]
        for update in updates:
            at = _instant(update.get("created_at")) or _instant(update.get("display_at"))
            if at is None:
                continue
            yield Post(
                page=page,
                id=_name(update.get("id")) or f"{about}@{at}",
                incident=about,
                at=at,
                status=_name(update.get("status")) or "posted",
                impact=impact,
                title=title,
                text=_name(update.get("body"), _LONGEST),
                components=components,
            )


def _of_widget(said: dict[str, Any], page: str) -> Iterator[Post]:
    for kind in ("ongoing_incidents", *_PLANNED):
        for event in _objects(said.get(kind)):
            about, at = _name(event.get("id")), _instant(event.get("last_update_at"))
            if not about or at is None:
                continue
            worst = _name(event.get("current_worst_impact"))
            yield Post(
                page=page,
                id=f"{about}@{at}",
                incident=about,
                at=at,
                status=_name(event.get("status")) or "posted",
                impact=MAINTENANCE if kind in _PLANNED else _IMPACTS.get(worst, worst or "minor"),
                title=_name(event.get("name"), _LONGEST),
                text=_name(event.get("last_update_message"), _LONGEST),
                components=_names(event.get("affected_components")),
            )


def _objects(value: object) -> Iterable[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _names(value: object) -> tuple[str, ...]:
    names = [_name(one.get("name")) for one in _objects(value)]
    return tuple(name for name in names if name)[:_MOST_COMPONENTS]


def _name(value: object, limit: int = _SHORTEST) -> str:
    """A text as one plain line; "" for anything else."""
    return text.line(value[: 8 * limit], limit) if isinstance(value, str) else ""


def _instant(value: object) -> int | None:
    """An ISO 8601 instant in milliseconds since the epoch; None where there is none."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        at = datetime.fromisoformat(value)
        ms = round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return ms if 0 < ms < 1 << 43 else None

"""Stores posts of providers' status pages, and notes them in the incidents they may be about; reads them back."""

from collections.abc import Collection, Sequence
from contextlib import closing
from typing import Any, Final

from msgspec.json import Decoder

from probes import typed_json
from probes.alerts.incident import Incident
from probes.alerts.lead_time import AFTER_MS, BEFORE_MS, posts_about, providers_of
from probes.status_pages.post import Post
from probes.store.models import PATIENCE_MS
from probes.store.read.reader import StoreReader

_POST: Final = Decoder(Post)
_INCIDENT: Final = Decoder(Incident)
_COLUMNS: Final = ("page", "post", "provider", "at", "seen_at", "text")
_KEEP: Final = """
INSERT INTO status_post (page, post, provider, at, seen_at, text)
VALUES (:page, :post, :provider, :at, :seen_at, :text)
ON CONFLICT (page, post) DO UPDATE SET text = excluded.text
"""
_RECENT: Final = "SELECT text FROM incident WHERE resolved_at IS NULL OR resolved_at >= ?"
_NOTED: Final = "SELECT at, text FROM incident_event WHERE incident_id = ? AND what = 'status page'"
_EVENT_COLUMNS: Final = ("incident_id", "at", "what", "text")
_READ: Final = "SELECT page, text FROM status_post WHERE at >= ? AND at <= ? ORDER BY at, post"


class StatusPosts:
    """The posts in the store at ``url``. Its methods may wait: call them in a thread."""

    def __init__(self, url: str) -> None:
        self._url = url

    def keep(self, posts: Sequence[Post], providers: Sequence[str], now: int) -> int:
        """Store the posts of a page of these providers, and note them in open and recent incidents of theirs.

        A post that is known keeps the instant at which it was first seen; its text may change. ``now`` is in ms since
        the epoch. Returns how many notes were made. Raises StoreProblem.
        """
        from probes.store.statements import inserting, run  # a screen only reads, and starts sooner without
        from probes.store.translate import translated
        from probes.store.write.database import PRAGMAS, open_store

        if not posts:
            return 0
        rows = [(one.page, one.id, providers[0], one.at, now, typed_json.encode(one).decode()) for one in posts]
        engine = open_store(self._url, {"busy_timeout": PATIENCE_MS, **PRAGMAS})
        try:
            with translated(), engine.begin() as connection:
                run(connection, _KEEP, [dict(zip(_COLUMNS, row, strict=True)) for row in rows])
                notes = []
                for (text,) in run(connection, _RECENT, (now - AFTER_MS,)):
                    incident = _decoded(text)
                    if incident is None or providers_of(incident).isdisjoint(providers):
                        continue
                    noted = {(at, said) for at, said in run(connection, _NOTED, (incident.id,))}
                    about = posts_about(incident, posts, now)
                    notes += [(incident.id, *one) for one in _notes(about) if one not in noted]
                if notes:
                    values = [
                        dict(zip(_EVENT_COLUMNS, (i, at, "status page", said), strict=True)) for i, at, said in notes
                    ]
                    run(connection, inserting("incident_event", _EVENT_COLUMNS), values)
        finally:
            engine.dispose()
        return len(notes)


def read_posts(url: str, pages: Collection[str], since: int, until: int) -> list[Post]:
    """The posts of these pages between two instants (ms since the epoch), oldest first. Raises StoreProblem.

    None in a store of an older version; one that a newer inftop wrote and that cannot be read is left out.
    """
    with closing(StoreReader(url)) as reader:
        rows: list[Any] = reader.few(_READ, (since, until)) if reader.has("status_post") else []
    posts = []
    for page, text in rows:
        if page in pages:
            try:
                posts.append(typed_json.decode(text, _POST))
            except ValueError:
                continue
    return posts


def posts_of(url: str, incident: Incident, pages: Collection[str], now: int) -> tuple[Post, ...]:
    """The posts on these pages that may be about an incident, oldest first. Raises StoreProblem."""
    end = (now if incident.resolved_at is None else incident.resolved_at) + AFTER_MS
    return posts_about(incident, read_posts(url, pages, incident.first_failure_at - BEFORE_MS, end), now)


def _notes(posts: Sequence[Post]) -> list[tuple[int, str]]:
    return [(one.at, one.words) for one in posts]


def _decoded(text: str) -> Incident | None:
    try:
        return typed_json.decode(text, _INCIDENT)
    except ValueError:  # a newer inftop's
        return None

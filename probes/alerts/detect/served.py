"""Says when another model or build answers than before, by the names that responses tell."""

from typing import Final

from probes.alerts.detect.observation import Observation

FIRST: Final = 15
"""Names in the first so many samples are those of before."""

SIGHTINGS: Final = 3
"""A new name must be seen so often: a single odd response changes nothing."""

MOST_NAMES: Final = 8
"""With more names than these they name responses, or servers: that says nothing of the model."""

HELD_MS: Final = 24 * 3_600_000
"""So long a change is shown."""


class NameWatch:
    """Watches one name that responses tell, such as the model's; ``what`` says of what it is."""

    __slots__ = ("_known", "_last", "_new", "_seen", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self._known: set[str] = set()
        self._new: dict[str, int] = {}
        self._last: str | None = None
        self._seen = 0

    @property
    def is_known(self) -> bool:
        """Whether the name taken last says nothing new, however often it comes again."""
        return self._seen == 0 or (self._seen > FIRST and not self._new)

    def observe(self, name: str) -> str | None:
        """Take a name; the change in words, where there is one."""
        self._seen += 1
        if name in self._known:
            self._last = name
            return None
        if len(self._known) > MOST_NAMES:
            return None
        self._new[name] = self._new.get(name, 0) + 1
        if self._seen <= FIRST or self._new[name] >= SIGHTINGS:
            before, self._last = self._last, name
            self._known.add(name)
            del self._new[name]
            return f"{self.what} {name}, before {before}" if self._seen > FIRST and before is not None else None
        if len(self._new) > MOST_NAMES:
            self._known |= self._new.keys()
        return None


class ServedWatch:
    """Watches who serves an endpoint: ``detail`` says in words what changed at ``since``; None: nothing lately."""

    __slots__ = ("_build", "_model", "_names", "detail", "sample_id", "since")

    def __init__(self) -> None:
        self._model, self._build = NameWatch("serves"), NameWatch("fingerprint")
        self._names: tuple[str | None, str | None] = (None, None)
        self.detail: str | None = None
        self.sample_id: str | None = None
        self.since = 0

    def observe(self, one: Observation) -> bool:
        """Take the names of a sample; whether something changed."""
        names = (one.served_model, one.served_fingerprint)
        if names == self._names and self._model.is_known and self._build.is_known:
            return False
        self._names = names
        changed = self._model.observe(one.served_model) if one.served_model else None
        if one.served_fingerprint:
            changed = self._build.observe(one.served_fingerprint) or changed
        if changed is not None:
            self.detail, self.since, self.sample_id = changed, one.at, one.sample_id
        return changed is not None

    def expire(self, now: int) -> bool:
        """Whether a change was shown for long enough, and is shown no more."""
        if self.detail is None or now - self.since < HELD_MS:
            return False
        self.detail = None
        return True

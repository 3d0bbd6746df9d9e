"""Which of the endpoints that are about to be probed lack their key, in words."""

from collections.abc import Sequence

from probes.endpoint import Endpoint
from probes.keys.lookup import find_sources
from probes.text import line


def lacking_keys(endpoints: Sequence[Endpoint]) -> str | None:
    """What to do about keys of these that are not found; None where every one has its key. May ask the keyring."""
    found = find_sources(dict.fromkeys(name for one in endpoints for name in one.keys)).found
    lacking = [one for one in endpoints if one.keys and not any(name in found for name in one.keys)]
    if not lacking:
        return None
    each = "; ".join(f"{line(one.name)} has no key: set {one.keys[0]}" for one in lacking)
    return f"{each}, or: inftop keys set {lacking[0].keys[0]}"

"""Zone: a time zone by its name."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, available_timezones


def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name such as ``Europe/Berlin``, of ``utc``, or ``local``, this machine's.

    Raises ValueError saying what is allowed.
    """
    if name.lower() == "utc":
        return UTC
    if name.lower() == "local":
        from tzlocal import get_localzone

        return get_localzone()
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown; no name at all; a folder of names
        alike = [one for one in available_timezones() if one.lower().endswith(name.lower())]
        hint = f"; did you mean {min(alike, key=len)!r}?" if name and alike else ""
        raise ValueError(
            f'{name!r} is not a time zone: write "utc", "local" or a name such as "Europe/Berlin"{hint}'
        ) from None

"""Keyrings for tests: one in memory, and some that fail in the ways real ones do."""

from collections.abc import Callable

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """Keeps entries in a dict, ``(service, name)`` to value."""

    priority = 1  # keyring asks for it

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.entries.pop((service, username), None) is None:
            raise PasswordDeleteError("not found")


class BrokenKeyring(MemoryKeyring):
    """Runs ``fault`` before every answer."""

    def __init__(self, fault: Callable[[], object]) -> None:
        super().__init__()
        self.fault = fault

    def get_password(self, service: str, username: str) -> str | None:
        self.fault()
        return super().get_password(service, username)

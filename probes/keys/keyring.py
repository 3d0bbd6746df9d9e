"""inftop's entries in the system's keyring, which may be missing, locked or silent."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from types import ModuleType
from typing import Final, TypeVar

from probes.keys.secret import SERVICE, Secret, flaw
from probes.text import line

T = TypeVar("T")

READ_LIMIT_S: Final = 10.0
WRITE_LIMIT_S: Final = 120.0  # the system may ask the person for the keyring's password first


class KeyringMissing(Exception):  # noqa: N818  # a state of the machine, not a mistake
    """No keyring here that answers; str says why, and that environment variables still work."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; keys in environment variables work without a keyring")


def read(name: str, within_s: float | None = None) -> Secret | None:
    """The key of that name, or None. Raises KeyringMissing, also after ``within_s`` seconds (`READ_LIMIT_S`)."""
    value = _ask(lambda keyring: keyring.get_password(SERVICE, name), READ_LIMIT_S if within_s is None else within_s)
    return Secret(value) if value and flaw(value) is None else None


def write(name: str, secret: Secret) -> None:
    """Keep a key under that name, in place of an older one. Raises KeyringMissing where it was not kept."""

    def put(keyring: ModuleType) -> bool:
        keyring.set_password(SERVICE, name, secret.reveal())
        return bool(keyring.get_password(SERVICE, name) == secret.reveal())

    if not _ask(put, WRITE_LIMIT_S, secret):
        raise KeyringMissing("the keyring took the key but did not keep it")


def delete(name: str) -> bool:
    """Forget the key of that name; False where there was none. Raises KeyringMissing."""

    def drop(keyring: ModuleType) -> bool:
        if keyring.get_password(SERVICE, name) is None:
            return False
        keyring.delete_password(SERVICE, name)
        return True

    return _ask(drop, WRITE_LIMIT_S)


def _ask(question: Callable[[ModuleType], T], limit_s: float, secret: Secret | None = None) -> T:
    """The keyring's answer, asked for in a daemon thread: one that never answers must not stop inftop."""
    answers: list[T] = []
    failures: list[Exception] = []

    def work() -> None:
        try:
            answers.append(question(_keyring()))
        except Exception as error:  # backends raise whatever the system's libraries do
            failures.append(error)

    thread = Thread(target=work, name="keyring", daemon=True)
    thread.start()
    thread.join(limit_s)
    if answers:
        return answers[0]
    if not failures:
        raise KeyringMissing(f"the keyring did not answer within {limit_s:.0f} s")
    raise KeyringMissing(_why(failures[0], secret))


def _keyring() -> ModuleType:
    """The package keyring, once it has chosen a keyring of this system; of those that it cannot have it loads none."""
    with _missing(*_useless()):
        import keyring  # here: it looks for the system's services while it is imported

        keyring.get_keyring()
    return keyring


def _useless() -> Iterator[str]:
    """Modules that can find no keyring here, and take a tenth of a second each to find that out.

    Apple's API runs a compiler to look for its libraries; SecretStorage loads OpenSSL, then refuses without a D-Bus.
    """
    if sys.platform != "darwin":
        yield "keyring.backends.macOS.api"
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        yield "secretstorage"


@contextmanager
def _missing(*names: str) -> Iterator[None]:
    """Have modules count as not installed meanwhile, where nobody has imported them."""
    names = tuple(name for name in names if name not in sys.modules)
    sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]  # None: an import of it fails at once
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


def _why(error: Exception, secret: Secret | None) -> str:
    from keyring.errors import NoKeyringError

    if isinstance(error, NoKeyringError):
        return "this machine has no keyring"
    words = line(str(error), 200) or type(error).__name__
    return f"the keyring failed: {secret.hide(words) if secret else words}"

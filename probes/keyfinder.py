"""Key finder: the credentials of a running engine's endpoints, looked up off its loop, remembered while they work."""

import asyncio
import time
from typing import Final

from probes.aws import AwsCredentials
from probes.credentials import Credentials, SecretHeader
from probes.endpoint import Endpoint
from probes.keys import KeyMissing, Secret, find_in_environment, find_key

RETRY_S: Final = 60.0
"""How long a key that was not found is not looked for in the keyring again; asking it may cost a round trip."""


class KeyFinder:
    """Finds keys in the environment, then the keyring. A key that was refused is forgotten, so a new one is found."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], Secret] = {}
        self._missed: dict[tuple[str, ...], float] = {}
        self._asking = asyncio.Lock()
        self._aws = AwsCredentials()

    async def find(self, endpoint: Endpoint) -> Credentials | None:
        """What an endpoint's requests need; None where they need nothing. Raises KeyMissing."""
        key, headers = None, []
        if endpoint.keys:
            key = await self._find(endpoint.keys, "no key")
        if endpoint.key_header is not None and key is not None:
            headers.append(SecretHeader(endpoint.key_header.name.lower(), endpoint.key_header.prefix, key))
            key = None
        for one in endpoint.header_keys:
            secret = await self._find((one.key,), f"no key for the header {one.header}")
            headers.append(SecretHeader(one.header.lower(), one.prefix, secret))
        plain = tuple(endpoint.headers.values())
        aws = await self._aws.signer(endpoint.aws_service, endpoint.base_url) if endpoint.aws_service else None
        return Credentials(key, tuple(headers), plain, aws) if key or headers or plain or aws else None

    def forget(self, endpoint: Endpoint) -> None:
        """Look up again next time what this one uses."""
        for names in (endpoint.keys, *((one.key,) for one in endpoint.header_keys)):
            self._found.pop(names, None)
        if endpoint.aws_service:
            self._aws.forget()

    async def _find(self, names: tuple[str, ...], lacking: str) -> Secret:
        """The key under the first of these names that has one. Raises KeyMissing, with words that begin so."""
        secret = await self._look_up(names)
        if secret is None:
            raise KeyMissing(f"{lacking}: set {' or '.join(names)}, or: inftop keys set {names[0]}")
        return secret

    async def _look_up(self, names: tuple[str, ...]) -> Secret | None:
        if (known := self._found.get(names) or find_in_environment(names)) is not None:
            self._found[names] = known
            return known
        async with self._asking:  # keyrings are asked one question at a time: some open a dialog
            if time.monotonic() < self._missed.get(names, 0.0):
                return None
            found = await asyncio.to_thread(find_key, names)
            if found is None:
                self._missed[names] = time.monotonic() + RETRY_S
                return None
            self._found[names] = found.secret
            return found.secret

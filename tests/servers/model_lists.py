"""A server that answers GETs with lists of models: whatever body a test gives it for a path."""

import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.servers.raw_server import Client, response, serving


@dataclass(slots=True)
class ListServer:
    """Where it is, and what it was asked: the target and the headers (names in lower case) of every request."""

    port: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        return [target for target, _ in self.asked]


@asynccontextmanager
async def list_server(
    bodies: Mapping[str, Any], *headers: str, status: int = 200, key: str | None = None, public: Collection[str] = ()
) -> AsyncIterator[ListServer]:
    """A server of these bodies by target (path and query): bytes as they are, anything else as JSON; 404 for others.

    With a ``key`` it answers to that bearer alone, but for what is ``public``.
    """
    server = ListServer()

    async def script(client: Client) -> None:
        while True:
            start = (await client.reader.readline()).decode("latin-1").split(" ")
            if len(start) < 2:
                return
            given = await client.request_headers()
            server.asked.append((start[1], given))
            known = start[1] in bodies
            body = bodies[start[1]] if known else {"error": {"message": "no such path"}}
            code = status if known else 404
            if key is not None and start[1] not in public and given.get("authorization") != f"Bearer {key}":
                code, body = 401, {"error": {"message": f"wrong key {given.get('authorization')}"}}
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            await client.say(response(code, "Content-Type: application/json", *headers, body=data))

    async with serving(script) as port:
        server.port = port
        yield server

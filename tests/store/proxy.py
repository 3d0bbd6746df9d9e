"""Proxy: a loopback port before a database's socket, which can be cut and mended: the network between."""

import asyncio
from contextlib import suppress
from pathlib import Path


class Proxy:
    """Forwards connections to a Unix socket while it is not cut; an async context manager."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._port = 0
        self._server: asyncio.Server | None = None
        self._pipes: set[asyncio.Task] = set()
        self.silent = False
        """Whether new connections are taken and hear nothing."""

    def url(self, database: str) -> str:
        return f"postgresql://inftop:secret@127.0.0.1:{self._port}/{database}"

    async def __aenter__(self) -> "Proxy":
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def mend(self) -> None:
        """Listen, on the same port as before."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Refuse, and end what is connected."""
        if self._server is not None:
            self._server.close()
        self._server = None
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pipes.add(task)
        if self.silent:
            try:
                await asyncio.Event().wait()
            finally:
                self._pipes.discard(task)
                writer.transport.abort()
        there, back = await asyncio.open_unix_connection(str(self._socket))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pump(reader, back))
                both.create_task(_pump(there, writer))
        except* (OSError, EOFError):
            pass
        finally:
            self._pipes.discard(task)
            for one in (writer, back):
                one.transport.abort()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    raise EOFError

"""WebSocket: one connection to a browser after its handshake, with bounds on size, rate and silence."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

PING_S: Final = 15.0
"""Seconds from one ping to the next."""

SILENT_S: Final = 45.0
"""Seconds without a word, a pong included, after which a browser counts as gone."""

RATE: Final = 200
"""Messages a second that a browser may send in the long run: a mouse that moves sends about a hundred."""

BURST: Final = 1000
"""Messages that may come at once, before the rate counts (a token bucket's size)."""

SEND_S: Final = 30.0
"""How long a browser may take to read what it was sent."""


class WebSocket:
    """Messages in, bytes and text out. What the client does wrong ends it, and nothing else."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, largest: int) -> None:
        self._reader, self._writer = reader, writer
        self._protocol = ServerProtocol(state=State.OPEN, max_size=largest)
        self._heard_at = time.monotonic()

    async def messages(self) -> AsyncIterator[str]:
        """The text messages of the browser, until it closes, breaks a rule or falls silent."""
        pings = asyncio.create_task(self._ping())
        parts: list[bytes] = []
        allowed, refilled_at = float(BURST), time.monotonic()
        try:
            while data := await self._reader.read(64 * 1024):
                self._heard_at = time.monotonic()
                allowed = min(BURST, allowed + (self._heard_at - refilled_at) * RATE)
                refilled_at = self._heard_at
                self._protocol.receive_data(data)
                for event in self._protocol.events_received():
                    assert isinstance(event, Frame)  # noqa: S101 - after the handshake there is nothing else
                    allowed -= 1
                    if allowed < 0:
                        await self.close(CloseCode.POLICY_VIOLATION, "too many messages")
                        return
                    if event.opcode in (Opcode.TEXT, Opcode.CONT, Opcode.BINARY):
                        parts.append(bytes(event.data))
                        if event.fin:
                            yield b"".join(parts).decode(errors="replace")
                            parts.clear()
                await self._flush()
                if self._protocol.state is not State.OPEN:
                    return
        except (OSError, TimeoutError):
            return
        finally:
            pings.cancel()
            with suppress(asyncio.CancelledError):
                await pings

    async def send(self, message: bytes | str) -> None:
        """Send a message, and wait while the browser has much to read. Raises OSError, TimeoutError once it is gone."""
        if self._protocol.state is not State.OPEN:
            raise ConnectionError("the browser has gone")
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        await self._flush()

    async def close(self, code: int = CloseCode.NORMAL_CLOSURE, reason: str = "") -> None:
        """Say goodbye, where it is still there."""
        with suppress(OSError, TimeoutError):
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
            await self._flush()

    async def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
        async with asyncio.timeout(SEND_S):
            await self._writer.drain()

    async def _ping(self) -> None:
        """Ask whether the browser is there, and end the connection once it has been silent too long."""
        while True:
            await asyncio.sleep(PING_S)
            if self._protocol.state is not State.OPEN:
                return
            if time.monotonic() - self._heard_at > SILENT_S:
                self._writer.transport.abort()
                return
            self._protocol.send_ping(b"")
            with suppress(OSError, TimeoutError):
                await self._flush()

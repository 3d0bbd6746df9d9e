"""StandIn: what a server takes for a viewer, without a process."""

import asyncio


class StandIn:
    """It draws one picture, and keeps what it hears."""

    def __init__(self, width, height):
        self.size = (width, height)
        self.heard = []
        self.ended = asyncio.Event()

    async def send(self, packets):
        self.heard.append(packets)

    async def pictures(self):
        yield b"picture"
        await asyncio.Event().wait()

    async def end(self):
        self.ended.set()

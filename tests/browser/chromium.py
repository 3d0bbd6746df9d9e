"""Chromium: the system's own, headless, driven over its DevTools protocol; it reaches loopback and files alone."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

PROGRAMS = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
START_S = 60.0
"""How long it may take to begin on a busy machine."""

WAIT_S = 30.0
"""How long a page may take to do what a test waits for."""

ANY_NAME = "rebound.example"
"""A name of somebody else's that leads to this machine, as after DNS rebinding."""

SWITCHES = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-proxy-server",
    f"--host-resolver-rules=MAP {ANY_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "Space": (32, " "),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    "Home": (36, ""),
    "End": (35, ""),
    "PageUp": (33, ""),
    "PageDown": (34, ""),
}
"""Code and text of keys that are no letters."""

SHIFT = 8
"""The modifier, as the protocol counts them."""


def installed() -> str:
    """Where Chromium is; the test is skipped where there is none."""
    for name in PROGRAMS:
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip(f"no browser is installed (looked for {', '.join(PROGRAMS)})")


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """A Chromium with a profile of its own in ``folder``, ended with the block; the address of its protocol.

    Raises RuntimeError, with what it said, where it does not come up.
    """
    log, profile = folder / "chromium.log", folder / "profile"
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with log.open("w") as out:
        process = subprocess.Popen(
            [installed(), *SWITCHES, *as_root, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield _address(process, profile / "DevToolsActivePort", log)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], written: Path, log: Path) -> str:
    """The address, which Chromium writes into a file: its port and its path."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with suppress(OSError, ValueError):
            port, path = written.read_text().split()
            return f"ws://127.0.0.1:{port}{path}"
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            break
    raise RuntimeError(f"Chromium did not come up:\n{log.read_text()[-3000:]}")


class Page:
    """A page, in a profile of its own: what it asked for, what it said, and what was forbidden to it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.requests: list[str] = []
        """The URLs it asked for, its own included; those of WebSockets too."""
        self.statuses: dict[str, int] = {}
        """The last status of each URL that answered."""
        self.console: list[str] = []
        """What its scripts, and the browser about it, wrote on the console."""
        self.errors: list[str] = []
        """Errors that no script caught."""
        self.violations: list[str] = []
        """What its Content-Security-Policy forbade: directive and URL, or "inline"."""
        self.frames: list[bytes] = []
        """What its WebSockets received."""
        self._socket = socket
        self._session: str | None = None
        self._profile = ""
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()

    async def goto(self, url: str) -> None:
        """Go to a page on loopback or in a file, and wait until it has loaded. Raises OSError where it cannot."""
        self._loaded.clear()
        done = await self.send("Page.navigate", url=url)
        if said := done.get("errorText"):
            raise OSError(f"{url}: {said}")
        async with asyncio.timeout(WAIT_S):
            await self._loaded.wait()

    async def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, awaited if it is a promise. Raises RuntimeError where it throws."""
        done = await self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if failed := done.get("exceptionDetails"):
            raise RuntimeError(failed.get("exception", {}).get("description") or failed["text"])
        return done["result"].get("value")

    async def wait_for(self, script: str) -> Any:
        """The value of an expression as soon as it is true. Raises TimeoutError, with the expression."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                while not (value := await self.evaluate(script)):
                    await asyncio.sleep(0.05)
                return value
        raise TimeoutError(f"never true: {script}")

    async def resize(self, width: int, height: int = 900, scale: float = 1) -> None:
        """Show the page in a window of this size in CSS pixels."""
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    async def emulate(self, *, scheme: str = "light", media: str = "screen", motion: str = "no-preference") -> None:
        """Light or dark, on a screen or in print, with or without ("reduce") motion."""
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        listed = [{"name": name, "value": value} for name, value in features.items()]
        await self.send("Emulation.setEmulatedMedia", media=media, features=listed)

    async def screenshot(self, path: Path, width: int = 1280, height: int = 900, *, whole: bool = False) -> Path:
        """A picture of the page in a window of this size, of all of it if ``whole``, as PNG in ``path``."""
        await self.resize(width, height)
        done = await self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(done["data"]))
        return path

    async def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key and let it go: one of KEYS, or a character."""
        code, text = KEYS[key] if key in KEYS else (ord(key.upper()), key)
        fields: dict[str, Any] = {
            "key": " " if key == "Space" else key,
            "code": key,
            "windowsVirtualKeyCode": code,
            "modifiers": SHIFT if shift else 0,
        }
        await self.send("Input.dispatchKeyEvent", type="keyDown", **fields, **({"text": text} if text else {}))
        await self.send("Input.dispatchKeyEvent", type="keyUp", **fields)

    async def click(self, x: float, y: float) -> None:
        """Click at a place in CSS pixels."""
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def hover(self, x: float, y: float) -> None:
        """Move the pointer to a place in CSS pixels."""
        await self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    async def send(self, method: str, **fields: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol; what it answers. Raises RuntimeError where it refuses."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": number, "method": method, "params": fields}
        if self._session is not None:
            message["sessionId"] = self._session
        await self._socket.send(json.dumps(message))
        async with asyncio.timeout(WAIT_S):
            said = await answer
        if refused := said.get("error"):
            raise RuntimeError(f"{method}: {refused['message']}")
        return said["result"]  # type: ignore[no-any-return]

    async def open(self) -> None:
        """Open the page, empty, in a profile of its own."""
        self._profile = (await self.send("Target.createBrowserContext"))["browserContextId"]
        target = await self.send("Target.createTarget", url="about:blank", browserContextId=self._profile)
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for one in ("Page", "Runtime", "Network", "Log", "Audits"):
            await self.send(f"{one}.enable")

    async def close(self) -> None:
        """Close it, and forget its profile."""
        self._session = None
        await self.send("Target.disposeBrowserContext", browserContextId=self._profile)

    async def listen(self) -> None:
        """Take what the browser says until the connection ends."""
        async for message in self._socket:
            said = json.loads(message)
            if "id" in said:
                if not (answer := self._answers.pop(said["id"])).done():
                    answer.set_result(said)
            elif said.get("sessionId") == self._session:
                self._note(said["method"], said["params"])

    def _note(self, method: str, said: dict[str, Any]) -> None:
        """Keep what an event says."""
        match method:
            case "Page.loadEventFired":
                self._loaded.set()
            case "Network.requestWillBeSent":
                self.requests.append(said["request"]["url"])
            case "Network.webSocketCreated":
                self.requests.append(said["url"])
            case "Network.responseReceived":
                self.statuses[said["response"]["url"]] = said["response"]["status"]
            case "Network.webSocketFrameReceived":
                frame = said["response"]
                data = frame["payloadData"]
                self.frames.append(base64.b64decode(data) if frame["opcode"] == 2 else data.encode())
            case "Runtime.consoleAPICalled":
                words = [str(one.get("value", one.get("description", ""))) for one in said["args"]]
                self.console.append(" ".join(words))
            case "Log.entryAdded":
                self.console.append(said["entry"]["text"])
            case "Runtime.exceptionThrown":
                details = said["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description") or details["text"])
            case "Audits.issueAdded":
                if found := said["issue"]["details"].get("contentSecurityPolicyIssueDetails"):
                    self.violations.append(f"{found['violatedDirective']} {found.get('blockedURL', 'inline')}")


@asynccontextmanager
async def page_of(address: str) -> AsyncIterator[Page]:
    """A page of the browser at this address, closed with the block."""
    async with connect(address, max_size=None, compression=None) as socket:
        page = Page(socket)
        listener = asyncio.create_task(page.listen())
        try:
            await page.open()
            yield page
            await page.close()
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener

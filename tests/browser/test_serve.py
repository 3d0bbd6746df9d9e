"""`inftop serve` in a real browser: the dashboard is seen, keys work only where they may, and no other page gets in."""

import os
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pyte
import pytest

from tests.browser import axe
from tests.browser.chromium import ANY_NAME, WAIT_S
from tests.tui.endpoint.month import fill_month

SIZE = 1200, 700


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("month") / "history.db"
    fill_month(path)
    return path


@contextmanager
def serving(store, folder, *options):
    """``inftop serve`` in a folder of its own, and the link that it prints."""
    command = [sys.executable, "-m", "tui", "--window", "30d", "serve", "--attach", str(store), "--port", "0", *options]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        try:
            while (found := re.search(r"http://\S+token=\S+", process.stderr.readline())) is None:
                assert process.poll() is None
            yield process, found[0]
        finally:
            process.terminate()


@contextmanager
def another_server(html):
    """A page of another origin: another port of this machine, which browsers take for the same site."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def viewers(process):
    """How many viewers it runs."""
    return len(psutil.Process(process.pid).children())


class Terminal:
    """What the terminal in the page shows, by what the page received."""

    def __init__(self, page):
        self._page = page
        self._read = 0
        self._screen = pyte.Screen(200, 60)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def rows(self):
        for frame in self._page.frames[self._read :]:
            self._read += 1
            if not frame.startswith(b'["'):
                self._stream.feed(frame)
        return [row.rstrip() for row in self._screen.display]

    async def until(self, words, *, shown=True):
        """Wait until it shows these words, or no longer does."""
        end = time.monotonic() + WAIT_S
        while any(words in row for row in self.rows) is not shown:
            assert time.monotonic() < end, "\n".join(self.rows)
            await self._page.evaluate("new Promise(done => setTimeout(done, 50))")


async def test_it_shows_the_dashboard_and_takes_no_key(page, store, tmp_path):
    with serving(store, tmp_path) as (process, link):
        await page.resize(*SIZE)
        await page.goto(link)
        terminal = Terminal(page)
        await terminal.until("stale")
        assert "token" not in await page.evaluate("location.href + document.referrer")
        assert await page.evaluate("document.cookie") == ""
        origin = await page.evaluate("location.origin")
        assert {one.replace("ws://", "http://")[: len(origin)] for one in page.requests} == {origin}
        assert page.errors == []
        before = [row for row in terminal.rows if "groq" in row]
        for key in ("q", "e", "r", "v", "Enter", "ArrowDown", "Space"):
            await page.press(key)
        await page.click(200, 120)
        await page.evaluate("new Promise(done => setTimeout(done, 500))")
        assert [row for row in terminal.rows if "groq" in row] == before
        assert viewers(process) == 1
        process.terminate()
        await page.wait_for("document.getElementById('end-why').textContent.startsWith('The server has gone')")
        assert list(tmp_path.iterdir()) == []
        problems = await axe.problems(page)
        assert not [one for one in problems if "xterm" not in one], problems


async def test_with_keys_it_opens_pages_and_writes_no_file(page, store, tmp_path):
    with serving(store, tmp_path, "--allow-keys") as (process, link):
        await page.resize(*SIZE)
        await page.goto(link)
        terminal = Terminal(page)
        await terminal.until("stale")
        await page.evaluate("document.querySelector('.xterm-helper-textarea').focus()")
        await page.press("e")
        await terminal.until("Not in a browser")
        await page.press("?", shift=True)
        await terminal.until("Keys here")
        await page.press("Escape")
        await terminal.until("Keys here", shown=False)  # Escape and a key at once are one key
        await page.press("Enter")
        await terminal.until("samples")
        await page.press("q")
        await page.press("q")
        await page.wait_for("document.getElementById('end-why').textContent")
        assert await page.evaluate("document.activeElement.textContent") == "Show it again"
        assert list(tmp_path.iterdir()) == []
        await page.press("Enter")
        await page.wait_for("document.querySelector('.-first-byte') && !document.querySelector('.-closed')")
        await page.send("Network.clearBrowserCookies")
        psutil.Process(process.pid).children()[0].kill()
        await page.wait_for("document.getElementById('end-why').textContent.startsWith('This browser has not been')")


ATTACK = """<!doctype html><title>evil</title><script>
const socket = new WebSocket("ws://HOST/FOLDER/socket?width=80&height=24");
const opened = new Promise(done => { socket.onopen = () => done("open"); socket.onclose = () => done("closed"); });
const read = fetch("http://HOST/FOLDER/", {credentials: "include"}).then(() => "read", () => "refused");
</script><iframe src="http://HOST/FOLDER/"></iframe><a href="http://HOST/FOLDER/">come</a>"""


FRAMED = "(() => { try { return frames[0].document.title } catch { return 'nothing' } })()"


async def test_no_other_page_gets_in(page, store, tmp_path):
    with serving(store, tmp_path) as (process, link):
        await page.goto(link)
        terminal = Terminal(page)
        await terminal.until("stale")
        _, host, folder = re.fullmatch(r"(http)://([^/]+)/([^/]+)/", await page.evaluate("location.href")).groups()
        with another_server(ATTACK.replace("HOST", host).replace("FOLDER", folder)) as evil:
            await page.goto(evil)
            assert await page.evaluate("opened") == "closed"
            assert await page.evaluate("read") == "refused"
            assert (
                await page.evaluate(
                    "frames.length && (() => { try { return frames[0].document.title } catch { return '' } })()"
                )
                == ""
            )
            assert page.statuses[f"http://{host}/{folder}/"] == 403  # what the frame got
            await page.evaluate("document.querySelector('a').click()")
            await page.wait_for("document.title === 'inftop'")
            assert "A link on another page does not lead here" in await page.evaluate("document.body.textContent")
        port = host.rpartition(":")[2]
        await page.goto(f"http://{ANY_NAME}:{port}/{folder}/")
        assert page.statuses[f"http://{ANY_NAME}:{port}/{folder}/"] == 403
        for _ in range(100):
            if viewers(process) == 0:
                break
            await page.evaluate("new Promise(done => setTimeout(done, 100))")
        assert viewers(process) == 0

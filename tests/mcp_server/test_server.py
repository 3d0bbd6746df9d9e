"""The server, as the official client and as bytes on its standard streams see it."""

import json
import subprocess
import sys
import time

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from probes.extras import how_to_add
from tests.answers.recorded import MINUTE, facts, record
from tests.samples import sample
from tests.store.stores import url_of

pytestmark = pytest.mark.slow

DEADLINE_S = 60.0
RUN = "from tui.cli import main; main()"


@pytest.fixture
def history(tmp_path):
    """A store whose samples end now."""
    now = time.time_ns() // 1_000_000
    url = url_of(tmp_path / "history.db")
    samples = [
        sample(endpoint=name, connection="warm", started_at=now - number * MINUTE, ttft_ms=ttft_ms)
        for name, ttft_ms in (("a", 100.0), ("b", 300.0))
        for number in range(30)
    ]
    record(url, [facts("a", group="g"), facts("b", group="g")], samples, beat_at=now)
    return url


def command(url):
    return [sys.executable, "-c", RUN, "mcp", "--store", url]


async def test_the_official_client_lists_and_calls_every_tool(history):
    program, *words = command(history)
    async with Client(stdio_client(StdioServerParameters(command=program, args=words))) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert list(tools) == ["fastest", "status", "history", "compare", "incidents"]
        for one in tools.values():
            assert one.annotations.read_only_hint is True
            assert one.annotations.destructive_hint is False
            assert one.input_schema["additionalProperties"] is False
        needed = {"fastest": {"group": "g"}, "history": {"endpoint": "a"}, "compare": {"first": "a", "second": "b"}}
        for name in tools:
            told = await client.call_tool(name, needed.get(name, {}))
            assert not told.is_error, told.content
            assert json.loads(told.content[0].text) == told.structured_content
            assert told.structured_content["version"] == 1
        for name, arguments in (
            ("fastest", {"group": "none"}),
            ("status", {"window_s": -5}),
            ("incidents", {"limit": 10**12}),
            ("history", {"endpoint": "\u202e\U000e0041模型"}),
            ("compare", {}),
        ):
            told = await client.call_tool(name, arguments)
            assert told.is_error
            assert json.loads(told.content[0].text)["message"]
        with pytest.raises(MCPError, match="there are fastest, status"):
            await client.call_tool("probe", {})


def exchange(url, *messages):
    """What the server writes to standard output for these messages, until it answers the last; then the file ends."""
    with subprocess.Popen(
        command(url), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as server:
        for one in messages:
            server.stdin.write(f"{one if isinstance(one, str) else json.dumps(one)}\n")
        server.stdin.flush()
        answers = []
        while not answers or answers[-1].get("id") != messages[-1]["id"]:
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        rest = server.stdout.read()
        assert server.wait(DEADLINE_S) == 0
        return answers + [json.loads(one) for one in rest.splitlines()]


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


HELLO = (
    request(
        0,
        "initialize",
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    ),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


def test_nothing_but_the_protocol_is_written_and_the_end_of_the_file_ends_it(history):
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    answers = exchange(
        history,
        *HELLO,
        request(1, "tools/call", name="history", arguments={"endpoint": "a"}),
        cancelled,
        "this is no JSON",
        request(2, "ping"),
    )
    assert all(one["jsonrpc"] == "2.0" for one in answers)
    assert answers[0]["result"]["serverInfo"]["name"] == "inftop"
    assert any(one.get("id") == 2 and one.get("result") == {} for one in answers)


def test_without_a_store_it_still_answers(tmp_path):
    url = url_of(tmp_path / "none.db")
    answers = exchange(url, *HELLO, request(1, "tools/call", name="status", arguments={}))
    assert answers[-1]["result"]["isError"] is True
    assert str(tmp_path) not in json.dumps(answers)


def test_a_store_that_cannot_be_named_is_a_mistake_in_the_command_line():
    done = subprocess.run(
        command("mysql://x"), input="", capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_without_the_package_the_error_names_the_extra(tmp_path):
    code = f"import sys; sys.modules['mcp'] = None; sys.argv = ['inftop', 'mcp', '--store', '{tmp_path}/x.db']; {RUN}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    assert done.returncode == 1
    assert how_to_add("mcp") in done.stderr
    assert "Traceback" not in done.stderr

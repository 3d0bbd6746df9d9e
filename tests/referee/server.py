"""Server: llama.cpp's own, out of `xllamacpp`, in a process of its own so that its threads disturb no clock of ours."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.servers.ports import free_port

ROOT = Path(__file__).parents[2]
START_S = 120.0
"""How long loading may take on a busy machine."""

POLL_S = 0.02

NAME = "referee-1"
"""What it calls its model, whatever it was asked for."""

LOADING = 503
READY = 200


@contextmanager
def serving(model: Path, *, until: int = READY, template: str = "", key: str = "") -> Iterator[str]:
    """A server of one model on a free port of the loopback, as its base URL; ended with the context.

    Entered when ``/health`` says ``until`` (`READY`, or `LOADING` to meet it while it still loads). ``template``
    replaces the model's chat template; with a ``key`` it answers nobody who does not say it. Raises RuntimeError
    with the server's log where it does not come up.
    """
    port = free_port()
    options = {"model": str(model), "port": port, "template": template, "key": key}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.referee.server", json.dumps(options)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        )
        try:
            if not _comes_up(process, port, until):
                log.seek(0)
                raise RuntimeError(f"llama.cpp's server did not come up:\n{log.read()[-2000:]}")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()  # nothing of it is worth keeping, and a server that is still loading hears nothing else
            process.communicate()


def _comes_up(process: subprocess.Popen, port: int, status: int) -> bool:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if _health(port) == status:
            return True
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
            return False
    return False


def _health(port: int) -> int | None:
    """The status of ``GET /health``, or None where nobody answers yet."""
    connection = HTTPConnection("127.0.0.1", port, timeout=START_S)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def main(options: dict) -> None:
    """Serve in this process until standard input ends, which it does with the parent."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.port = options["port"]
    params.model_alias = {NAME}
    params.n_ctx = 0  # the model's own
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.fit_params = False  # it would try several loads to see what fits
    if options["template"]:
        params.chat_template = options["template"]
    if options["key"]:
        params.api_keys = [options["key"]]
    server = xllamacpp.Server(params)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

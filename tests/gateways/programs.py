"""Programs: gateways and proxies as they are installed, each run on loopback with a configuration of its own."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

START_S = 120.0
"""How long one may take to begin to listen on a busy machine: LiteLLM imports for twenty seconds."""

POLL_S = 0.05


def installed(name: str) -> str:
    """Where a program is; the test is skipped where it is not.

    It is looked for where ``GATEWAY_PROGRAMS`` says (folders, as in PATH), on the path, and where Debian has servers.
    """
    places = os.pathsep.join([os.environ.get("GATEWAY_PROGRAMS", ""), os.environ.get("PATH", ""), "/usr/sbin"])
    if (found := shutil.which(name, path=places)) is None:
        pytest.skip(f"{name} is not installed")
    return found


@contextmanager
def running(
    command: Sequence[str | Path], port: int, folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Path]:
    """A program that listens on ``port`` when the block is entered, ended with it; what it says is in the file given.

    Raises RuntimeError, with what it said, where it does not come up.
    """
    log = folder / "program.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **(environment or {})},
        )
        try:
            if not _listens(process, port):
                raise RuntimeError(f"{command[0]} did not come up:\n{log.read_text()[-3000:]}")
            yield log
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
            return False
    return False


@contextmanager
def nginx(server: str, folder: Path, port: int) -> Iterator[Path]:
    """nginx with one ``server`` block's content, which listens on ``port`` itself."""
    program = installed("nginx")
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 1;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    {server}
  }}
}}
""")
    command = [program, "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]
    with running(command, port, folder) as log:
        yield log


@contextmanager
def haproxy(sections: str, folder: Path, port: int) -> Iterator[Path]:
    """haproxy with these sections besides its defaults, one of which binds ``port``."""
    (folder / "haproxy.cfg").write_text(f"""
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
{sections}
""")
    with running([installed("haproxy"), "-db", "-f", folder / "haproxy.cfg"], port, folder) as log:
        yield log


@contextmanager
def litellm(configuration: str, folder: Path, port: int, environment: Mapping[str, str]) -> Iterator[Path]:
    """LiteLLM's proxy with a configuration file."""
    (folder / "litellm.yaml").write_text(configuration)
    command = [installed("litellm"), "--config", folder / "litellm.yaml", "--host", "127.0.0.1", "--port", str(port)]
    quiet = {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "NO_PROXY": "*",
        "HF_HUB_OFFLINE": "1",
        **environment,
    }
    with running(command, port, folder, quiet) as log:
        yield log


@contextmanager
def mitmproxy(mode: str, folder: Path, port: int, *options: str) -> Iterator[Path]:
    """mitmproxy without its screen; its own authority's certificate is then at ``folder/mitmproxy-ca-cert.pem``."""
    command = [installed("mitmdump"), "--mode", mode, "--listen-host", "127.0.0.1", "--listen-port", str(port)]
    with running([*command, "--set", f"confdir={folder}", *options], port, folder) as log:
        yield log


@contextmanager
def squid(rules: str, folder: Path, port: int) -> Iterator[Path]:
    """squid with these access rules, which denies what they do not allow; it keeps nothing on the disk."""
    (folder / "squid.conf").write_text(f"""
http_port 127.0.0.1:{port}
pid_filename none
access_log none
cache_log /dev/null
cache deny all
shutdown_lifetime 0 seconds
{rules}
http_access deny all
""")
    command = [installed("squid"), "-N", "-d1", "-n", f"inftop{port}", "-f", folder / "squid.conf"]
    with running(command, port, folder) as log:
        yield log


@contextmanager
def microsocks(folder: Path, port: int, *options: str) -> Iterator[Path]:
    """microsocks, a SOCKS5 server."""
    with running([installed("microsocks"), "-i", "127.0.0.1", "-p", str(port), *options], port, folder) as log:
        yield log

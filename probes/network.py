"""Network: the opening of a stream: resolution, connect (happy eyeballs) and TLS, each timed apart."""

import asyncio
import contextlib
import ipaddress
import socket
import ssl
import time
from typing import Any, Final

from probes.marks import Setup
from probes.outcome import Outcome
from probes.own_fault import lacking
from probes.read_budget import ReadBudget
from probes.stream import Stream, words
from probes.transport import ExchangeError, SetupError

HEAD_START_S: Final = 0.25
"""How long one address may try alone before the next joins in (RFC 8305, "connection attempt delay")."""

Address = tuple[socket.AddressFamily, tuple[Any, ...]]


async def open_stream(host: str, port: int, tls: ssl.SSLContext | None, budget: ReadBudget) -> tuple[Stream, Setup]:
    """A connected stream and what opening it took. Raises SetupError and ReadBudgetSpent."""
    started = time.monotonic_ns()
    literal = _is_address(host)
    addresses = await _resolve(host, port)
    resolved = None if literal else time.monotonic_ns()
    sock = await _connect(addresses)
    connected = time.monotonic_ns()
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = str(sock.getpeername()[0])
    except OSError as error:
        sock.close()
        raise _failure(Outcome.CONNECT, error) from error
    stream = Stream(sock, budget)
    if tls is None:
        return stream, Setup(started, connected, resolved, address=address)
    try:
        await stream.secure(tls, host)
    except ExchangeError as error:
        stream.abort()
        ours = error.outcome is Outcome.OWN_FAULT
        raise SetupError(error.outcome if ours else Outcome.TLS, error.detail) from error
    except OSError as error:
        stream.abort()
        raise _failure(Outcome.TLS, error) from error
    except BaseException:
        stream.abort()
        raise
    return stream, Setup(started, connected, resolved, time.monotonic_ns(), address=address)


async def _resolve(host: str, port: int) -> list[Address]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _failure(Outcome.DNS, error, f"{host}: ") from error
    addresses: list[Address] = [(family, address) for family, _, _, _, address in found]
    if not addresses:
        raise SetupError(Outcome.DNS, f"{host}: no address")
    # families take turns, so that one broken family costs one head start and not one for each address
    first = [one for one in addresses if one[0] == addresses[0][0]]
    other = [one for one in addresses if one[0] != addresses[0][0]]
    turns = [one for pair in zip(first, other, strict=False) for one in pair]
    return turns + first[len(other) :] + other[len(first) :]


async def _connect(addresses: list[Address]) -> socket.socket:
    """The first address to connect, each given a head start on the next (happy eyeballs)."""
    tries: set[asyncio.Task[socket.socket]] = set()
    errors: list[BaseException] = []
    waiting = list(addresses)
    try:
        while waiting or tries:
            if waiting:
                tries.add(asyncio.create_task(_try(waiting.pop(0))))
            done, tries = await asyncio.wait(
                tries, timeout=HEAD_START_S if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if (error := task.exception()) is None:
                    return task.result()
                errors.append(error)
    finally:
        await _abandon(tries)
    telling = next((one for one in errors if lacking(one) is None), errors[0])
    raise _failure(Outcome.CONNECT, telling) from telling


def _failure(outcome: Outcome, error: BaseException, where: str = "") -> SetupError:
    """What it failed by; an own fault where this machine lacked something."""
    ours = lacking(error)
    return SetupError(Outcome.OWN_FAULT, ours) if ours else SetupError(outcome, f"{where}{words(error)}")


async def _abandon(tries: set[asyncio.Task[socket.socket]]) -> None:
    for task in tries:
        task.cancel()
    for task in tries:
        with contextlib.suppress(asyncio.CancelledError, OSError):
            (await task).close()


async def _try(address: Address) -> socket.socket:
    sock = socket.socket(address[0], socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, address[1])
    except BaseException:
        sock.close()
        raise
    return sock


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

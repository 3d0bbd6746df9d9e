"""Work that may hang, such as asking the system's keyring, off the screen's loop."""

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from probes.supervision import call_on_loop

T = TypeVar("T")


async def off_loop(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises. It runs in a daemon thread: what never ends does not keep inftop from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, error: Exception | None) -> None:
        if done.done():  # nobody waits any more
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # None only where T has it

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:
            failure = error
        call_on_loop(loop, finish, result, failure)

    Thread(target=run, name="off the loop", daemon=True).start()
    return await done

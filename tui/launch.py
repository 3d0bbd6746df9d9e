"""Launch: the command that is our engine, and the dashboard started on it."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import probes
from probes.config.file import find_config
from probes.config.load import load, race_prompts
from probes.feed.messages import EndpointFacts, Hello
from probes.race.request import NamedPrompt, RaceRequest
from probes.store.location import check_url, default_url, is_postgres, path_of
from probes.store.problem import StoreProblem
from probes.user_folders import from_home
from tui.sources.source import HeldSource, LiveSource, Source
from tui.state.view_options import ViewOptions, lens_on

if TYPE_CHECKING:
    from tui.app import InftopApp

DEFAULT_WINDOW: Final = "1h"
DEMO_WINDOW: Final = "1m"


def bare(*, demo: bool) -> None:
    """``inftop`` or ``inftop demo`` without options. Raises ConfigError before anything is shown."""
    if demo:
        show_demo(lens_on(DEMO_WINDOW))
    else:
        show_dashboard(None, lens_on(DEFAULT_WINDOW))


def show_dashboard(config: Path | None, lens: ViewOptions, *, theme: str | None = None) -> None:
    """The dashboard on a configuration; lines on standard output where there is no terminal. Raises ConfigError."""
    file = find_config(config)
    read = load(file)  # what is wrong with it is said before a screen hides it
    words = file.argument
    if not at_terminal():
        become([*words, "record"])
    facts = [EndpointFacts.of(one) for one in read.endpoints]
    url = read.store_url or default_url()
    _run([*words, "run"], lens, theme=theme, endpoints=facts, store_url=url, prompts=lambda: race_prompts(read))


def show_attached(url: str, config: Path | None, lens: ViewOptions, *, theme: str | None = None) -> None:
    """The dashboard on any store, only reading; several may look at one store.

    Raises ConfigError, and StoreProblem where there is no such file.
    """
    if not is_postgres(url) and not path_of(url).exists():
        raise StoreProblem("failed", f"there is no store at {path_of(url)}")
    read = load(find_config(config))
    facts = [EndpointFacts.of(one) for one in read.endpoints]
    _show(lambda: _onlooker(url, facts), lens, theme=theme, store_url=url, prompts=lambda: race_prompts(read))


def url_of(store: str) -> str:
    """The URL of a store that is named by its path or by a URL. Raises ValueError, which does not quote it."""
    url = store if "://" in store else f"sqlite:///{from_home(Path(store)).absolute()}"
    check_url(url)
    return url


def show_demo(lens: ViewOptions, *, theme: str | None = None, lasting_s: float | None = None) -> None:
    """The dashboard on simulated providers, for ``lasting_s`` seconds or until a person leaves; lines likewise."""
    if not at_terminal():
        become(["record", "--demo", *([] if lasting_s is None else ["--for", f"{lasting_s}s"])])
    _run(["run", "--demo"], lens, theme=theme, lasting_s=lasting_s)


def show_race(config: Path | None, wish: RaceRequest, *, demo: bool) -> None:
    """The race view, on an engine that only races; the race begins at once. Raises ConfigError."""
    if demo:
        _run(["run", "--demo", "--races"], lens_on(DEMO_WINDOW), theme=None, race=wish)
        return
    file = find_config(config)
    read = load(file)
    facts = [EndpointFacts.of(one) for one in read.endpoints]
    _run(
        [*file.argument, "run", "--races"],
        lens_on(DEFAULT_WINDOW),
        theme=None,
        endpoints=facts,
        store_url=read.store_url or default_url(),
        prompts=lambda: race_prompts(read),
        race=wish,
    )


def show_measuring(stage: Path) -> None:
    """The screen on the engine of a selftest."""
    from tui.selftest_app import SelftestApp

    _run(["measure", str(stage)], lens_on(DEMO_WINDOW), theme=None, program=SelftestApp)


def measuring_screen(stage: Path) -> list[str]:
    """The command that does so in a process of its own."""
    return [sys.executable, "-m", "tui", "measuring", str(stage)]


def _run(
    words: Sequence[str],
    lens: ViewOptions,
    *,
    theme: str | None,
    endpoints: Iterable[EndpointFacts] = (),
    store_url: str | None = None,
    lasting_s: float | None = None,
    prompts: Callable[[], Sequence[NamedPrompt]] = lambda: race_prompts(load(find_config(None))),
    race: RaceRequest | None = None,
    program: "type[InftopApp] | None" = None,
) -> None:
    """Show the dashboard on an engine started with these words, or the race view with this race over it."""
    _show(
        lambda: LiveSource(lambda: _engine(words), _attached),
        lens,
        theme=theme,
        endpoints=endpoints,
        store_url=store_url,
        lasting_s=lasting_s,
        prompts=prompts,
        race=race,
        program=program,
    )


def _show(
    source: Callable[[], Source],
    lens: ViewOptions,
    *,
    theme: str | None,
    endpoints: Iterable[EndpointFacts] = (),
    store_url: str | None = None,
    lasting_s: float | None = None,
    prompts: Callable[[], Sequence[NamedPrompt]],
    race: RaceRequest | None = None,
    program: "type[InftopApp] | None" = None,
) -> None:
    """Show the screen on a source."""
    from tui.app import InftopApp  # not where there is no terminal

    app = (program or InftopApp)(
        source(),
        now=lambda: time.time_ns() // 1_000_000,
        endpoints=endpoints,
        store_url=store_url,
        lens=lens,
        theme=theme,
        lasting_s=lasting_s,
        prompts=prompts,
        race=race,
    )
    gc.freeze()  # what start-up has made stays: walking it again and again would hold up keys and reading
    if os.name == "posix":
        from tui.terminal import show  # the terminals of other systems are otherwise

        asyncio.run(show(app))
    else:
        app.run()
    if app.return_code:
        raise SystemExit(app.return_code)


def _engine(words: Sequence[str]) -> HeldSource:
    """Our own engine. Imported when it is wanted: the first picture comes before it."""
    from tui.sources.child import ChildEngine

    return ChildEngine(engine_argv(words), engine_environment(os.environ))


def _attached(hello: Hello) -> Source:
    """The recorder that holds the store."""
    from tui.sources.attached import FollowingSource

    return FollowingSource(hello)


def _onlooker(url: str, configured: Iterable[EndpointFacts]) -> Source:
    """Whoever only looks."""
    from tui.sources.viewer import ReadOnlySource

    return ReadOnlySource(url, configured)


def at_terminal() -> bool:
    """Whether there is a terminal to draw on and to read keys from."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def engine_argv(words: Iterable[str]) -> list[str]:
    """The command line of ``python -m probes`` with these words, under this very interpreter."""
    return [sys.executable, "-m", "probes", *words]


def engine_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment in which that command finds our `probes`, and no other.

    Python would look into the working directory first, and run whatever a stranger's repository calls ``probes``.
    A checkout that is not installed is found by its path.
    """
    root = Path(probes.__file__).parent.parent
    environment = {**inherited, "PYTHONSAFEPATH": "1"}
    if root.name not in ("site-packages", "dist-packages"):
        old = inherited.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([old] if old else [])])
    return environment


def become(words: Sequence[str]) -> None:
    """Replace this process by the engine started with these words: no screen, lines on standard output."""
    sys.stdout.flush()
    os.execve(sys.executable, engine_argv(words), engine_environment(os.environ))  # noqa: S606 - our own interpreter

"""The command that says where this machine's limit is: ``inftop bench engine``."""

from typing import Annotated

import typer

from probes.cli.command_line import CommandLine
from probes.cli.exit_codes import ExitCode
from probes.cli.options import JsonOption

bench_app = CommandLine(no_args_is_help=True, help="Say how much this machine bears.")


def _seconds(option: str, text: str, least: float) -> float:
    from probes.durations import seconds

    try:
        found = seconds(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
    if found < least:
        raise typer.BadParameter(f"at least {least:g}s", param_hint=option)
    return found


@bench_app.callback()
def bench() -> None:
    """Say how much this machine bears."""


@bench_app.command()
def engine(
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="How often each endpoint is probed.")] = "10s",
    lasting: Annotated[str, typer.Option("--for", metavar="TIME", help="How long each step is measured.")] = "20s",
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, max=64, help="Engine processes.")] = 1,
    endpoints: Annotated[
        int | None,
        typer.Option("--endpoints", metavar="N", min=1, max=100_000, help="Only so many, without a search."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find how many endpoints one recorder probes without being late, on this machine, now.

    A server of its own on this machine answers every probe, and knows when it wrote every token. The number of
    endpoints is doubled until due times are skipped, probes begin 100 ms late at p99, an answer is not stored, or the
    stored numbers are worse than a selftest allows; then the gap is halved. Some minutes, in which nothing else should
    run. Exit code 1 where not even the smallest load is borne.
    """
    from probes.cli.commands.bench import engine

    interval_s, seconds = _seconds("--every", every, 1.0), _seconds("--for", lasting, 5.0)
    if not engine(interval_s=interval_s, seconds=seconds, workers=workers, endpoints=endpoints, as_json=as_json):
        raise typer.Exit(ExitCode.NOT_OK)

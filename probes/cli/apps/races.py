"""The commands under ``inftop races``, as a Typer app of their own for `probes.cli.app`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from probes.cli import completion
from probes.cli.command_line import CommandLine
from probes.cli.options import JsonOption

races_app = CommandLine(invoke_without_command=True)

Number = Annotated[
    int, typer.Argument(metavar="ID", help="Its number, as inftop races lists it.", autocompletion=completion.races)
]


@races_app.callback()
def races(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many at most.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the races that are kept, the newest first; show one; export one."""
    if ctx.invoked_subcommand is None:
        from probes.cli.commands.races import races

        races(ctx.obj, limit=limit, as_json=as_json)


@races_app.command()
def show(ctx: typer.Context, number: Number, as_json: JsonOption = False) -> None:
    """Show a race: what every lane did, how they compare, and the verdict."""
    from probes.cli.commands.races import show

    show(ctx.obj, number, as_json=as_json)


@races_app.command()
def export(
    ctx: typer.Context,
    number: Number,
    format: Annotated[  # noqa: A002 - the word people know
        Literal["csv", "jsonl", "cast"],
        typer.Option(help="Samples as CSV, events as JSON lines, or an asciinema recording (v2)."),
    ] = "csv",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A file; default: standard output.")
    ] = None,
) -> None:
    """Export a race. A file appears whole or not at all."""
    from probes.cli.commands.races import export

    export(ctx.obj, number, format=format, output=output)

"""The commands under ``inftop history``, as a Typer app of their own for `probes.cli`."""

from typing import Annotated

import typer

from probes.exit_code import ExitCode

history_app = typer.Typer(invoke_without_command=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@history_app.callback()
def history(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Say what the store holds; check it, rebuild its rollups, shrink it."""
    if ctx.invoked_subcommand is None:
        from probes.commands.history import history

        history(ctx.obj, as_json=as_json)


@history_app.command()
def rebuild(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Make the rollups again from the samples there are.

    As far back as no sample was pruned; older rollups stay. A recorder may go on meanwhile.
    """
    from probes.commands.history import rebuild

    rebuild(ctx.obj, as_json=as_json)


@history_app.command()
def check(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Look at the whole store: its file, its references, its rollups against its samples.

    Exit code 1 where something is wrong, with what to do about it. A recorder may go on meanwhile.
    """
    from probes.commands.history import check

    if not check(ctx.obj, as_json=as_json):
        raise typer.Exit(ExitCode.NOT_OK)


@history_app.command()
def vacuum(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Make the store's file as small as what it holds.

    Exit code 3 while a recorder has it.
    """
    from probes.commands.history import vacuum

    vacuum(ctx.obj, as_json=as_json)

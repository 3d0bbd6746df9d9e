"""The commands that write the configuration: begin it, edit it, remove endpoints; part of `probes.cli.app`."""

from typing import Annotated

import typer

from probes.cli.command_line import CommandLine
from probes.cli.exit_codes import ExitCode

setup_app = CommandLine()


@setup_app.command()
def init(ctx: typer.Context) -> None:
    """Begin a configuration of your own: a short commented file in your folder.

    With the shipped endpoints whose key is found, or with one as an example. A file that is there already is left as
    it is, with exit code 2. --config names another place.
    """
    from probes.cli.commands.init import init

    init(ctx.obj)


@setup_app.command()
def edit(ctx: typer.Context) -> None:
    """Open the configuration in $VISUAL or $EDITOR, and check it afterwards.

    The shipped configuration is never edited: a file of your own begins in its place. Exit code 2 where the file is
    wrong in the end.
    """
    from probes.cli.commands.edit import edit

    if not edit(ctx.obj):
        raise typer.Exit(ExitCode.USAGE)


@setup_app.command()
def remove(ctx: typer.Context, names: Annotated[list[str], typer.Argument(metavar="NAME", help="Endpoints.")]) -> None:
    """Take endpoints out of the configuration.

    What was recorded of them stays in the history. Exit code 1 where there is none of that name.
    """
    from probes.cli.commands.remove import remove

    if not remove(ctx.obj, names):
        raise typer.Exit(ExitCode.NOT_OK)

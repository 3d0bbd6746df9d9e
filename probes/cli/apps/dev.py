"""The command for those who work on inftop: ``inftop dev simulate``."""

from typing import Annotated

import typer

from probes.cli import completion
from probes.cli.command_line import CommandLine
from probes.cli.options import usage_errors

dev_app = CommandLine(no_args_is_help=True, help="Help to work on inftop itself.")


@dev_app.callback()
def dev() -> None:
    """Help to work on inftop itself."""


@dev_app.command()
def simulate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A provider of inftop providers, or a dialect.", autocompletion=completion.providers
        ),
    ],
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The TCP port; 0 is any that is free.")
    ] = 0,
) -> None:
    """Serve as a provider does, on this machine, until Ctrl+C.

    Prints a command that probes it, and an endpoint for a configuration: to see a new dialect or preset live, without a
    key or network.
    """
    from probes.cli.commands.dev import preset_of
    from probes.cli.commands.dev import simulate as serve

    with usage_errors():
        preset = preset_of(name)
    serve(preset, port)

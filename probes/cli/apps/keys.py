"""The commands under ``inftop keys``, as a Typer app of their own for `probes.cli.app`."""

from typing import Annotated

import typer

from probes.cli import completion
from probes.cli.command_line import CommandLine
from probes.cli.exit_codes import ExitCode
from probes.cli.options import JsonOption, usage_errors

keys_app = CommandLine(help="Keep, list, test and delete the keys of providers.", no_args_is_help=True)

KeyName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="As its environment variable, such as OPENAI_API_KEY.", autocompletion=completion.keys
    ),
]


@keys_app.command("set")
def keys_set(
    ctx: typer.Context, name: KeyName, more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None
) -> None:
    """Keep a key in the keyring.

    It is asked for without showing it, or read from standard input.
    """
    if more:
        raise typer.BadParameter("takes the name alone; the key is asked for next, out of the shell's history")
    from probes.cli.commands.setup.keys import set_key

    set_key(ctx.obj.config, name)


@keys_app.command("list")
def keys_list(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List where every key is.

    In the environment, in the keyring, or missing. Values are never shown.
    """
    from probes.cli.commands.setup.keys import list_keys

    list_keys(ctx.obj.config, as_json=as_json)


@keys_app.command("test")
def keys_test(ctx: typer.Context, name: KeyName, as_json: JsonOption = False) -> None:
    """Test a key: ask for the models of every provider that takes it.

    No tokens are used. Exit code 1 where the key is refused, or is not found.
    """
    from probes.cli.commands.setup.keys import test_key

    with usage_errors():
        taken = test_key(ctx.obj.config, name, as_json=as_json)
    if not taken:
        raise typer.Exit(ExitCode.NOT_OK)


@keys_app.command("delete")
def keys_delete(name: KeyName) -> None:
    """Take a key out of the keyring.

    Exit code 1 where it was not there.
    """
    from probes.cli.commands.setup.keys import delete_key

    if not delete_key(name):
        raise typer.Exit(ExitCode.NOT_OK)

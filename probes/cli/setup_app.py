"""The commands that write the configuration: begin it, edit it, add and remove endpoints; part of `probes.cli.app`."""

from typing import Annotated, Final

import typer

from probes.cli import completion
from probes.cli.command_line import CommandLine
from probes.cli.exit_codes import ExitCode

setup_app = CommandLine()

ADD_PAGE: Final = "inftop.add_page"
"""The key in the context's ``meta`` under which a screen, if there is one, puts the function that shows its add page.

It takes the path given with --config, or None, and the name of the provider to add models of, "" for any.
"""


@setup_app.command()
def init(ctx: typer.Context) -> None:
    """Begin a configuration of your own: a short commented file in your folder.

    With the shipped endpoints whose key is found, or with one as an example. A file that is there already is left as
    it is, with exit code 2. --config names another place.
    """
    from probes.cli.commands.setup.init import init

    init(ctx.obj)


@setup_app.command()
def add(
    ctx: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="PROVIDER|URL",
            help="One of inftop providers, or a server's address.",
            autocompletion=completion.providers,
        ),
    ] = None,
    models: Annotated[list[str] | None, typer.Argument(metavar="MODEL", help="Its models to watch.")] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="TOOL", help="openrouter, litellm, llm, env, or the path of a LiteLLM file."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What to call the endpoint.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="NAME",
            help="The name of its key, never the key; none: no key.",
            autocompletion=completion.keys,
        ),
    ] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="Another address of the provider.")] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="NAME", help="The group it is compared in.", autocompletion=completion.groups),
    ] = None,
    interval: Annotated[str | None, typer.Option("--interval", metavar="TIME", help="How often: 30s, 5m.")] = None,
    dialect: Annotated[
        str | None,
        typer.Option("--dialect", metavar="NAME", help="What is spoken there.", autocompletion=completion.dialects),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to add them.")] = False,
    no_probe: Annotated[bool, typer.Option("--no-probe", help="No trial probe: add them untried.")] = False,
) -> None:
    """Add endpoints to the configuration, each after a trial probe.

    Comments and order of the file stay; in place of the shipped one a file of your own begins. Exit code 1 where a
    probe failed and the endpoint was left out, 2 where no model was named: then those there are have been listed.
    """
    named = tuple(models or ())
    if source == "openrouter" and what is not None:  # what follows are models of it
        named, what = (what, *named), None
    if source is not None and (what is not None or url or key or dialect):
        raise typer.BadParameter("takes providers, addresses and keys from there, and none beside", param_hint="--from")
    if name is not None and (source is not None or len(named) > 1):
        raise typer.BadParameter("is for one endpoint", param_hint="--name")
    page = ctx.meta.get(ADD_PAGE)
    if page is not None and not (named or source or name or key or url or group or interval or dialect or no_probe):
        from probes.config.presets import presets

        if what is None or what in presets():
            page(ctx.obj, what or "")
            return
    if what is None and source is None:
        raise typer.BadParameter("name a provider or an address (inftop providers, inftop discover), or --from")
    from probes.cli.commands.setup.add import AddRequest, add
    from probes.cli.commands.setup.add_candidates import Place

    place = None if what is None else Place(what, url, key, dialect)
    options = {"source": source, "name": name, "group": group, "interval": interval}
    if not add(ctx.obj, AddRequest(place, named, **options, yes=yes, probing=not no_probe)):
        raise typer.Exit(ExitCode.NOT_OK)


@setup_app.command()
def edit(ctx: typer.Context) -> None:
    """Open the configuration in $VISUAL or $EDITOR, and check it afterwards.

    The shipped configuration is never edited: a file of your own begins in its place. Exit code 2 where the file is
    wrong in the end.
    """
    from probes.cli.commands.setup.edit import edit

    if not edit(ctx.obj):
        raise typer.Exit(ExitCode.USAGE)


@setup_app.command()
def remove(
    ctx: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Endpoints.", autocompletion=completion.endpoints)],
) -> None:
    """Take endpoints out of the configuration.

    What was recorded of them stays in the history. Exit code 1 where there is none of that name.
    """
    from probes.cli.commands.setup.remove import remove

    if not remove(ctx.obj, names):
        raise typer.Exit(ExitCode.NOT_OK)

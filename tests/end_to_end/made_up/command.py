"""`inftop weather`, made up: how the sky is."""

import json

import typer


def weather(*, as_json: bool) -> None:
    """Print the sky, as JSON where it is asked for."""
    typer.echo(json.dumps({"sky": "clear"}) if as_json else "clear")

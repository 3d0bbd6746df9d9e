"""Typer apps, each of the commands that belong together, for `probes.cli.app`."""

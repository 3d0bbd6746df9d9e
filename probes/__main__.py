"""``python -m probes``: the command line without a screen; an engine of a screen is started by it too."""

from probes.cli import entry


def main() -> None:
    """Run the command line; imported only now, so that Ctrl+C meanwhile ends it quietly too."""
    from probes.cli.app import main as run_app

    run_app()


entry.run(main)

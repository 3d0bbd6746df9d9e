"""The configuration of a command that probes nothing, and the store that it goes by."""

from pathlib import Path

from probes.cli.output.which_store import say_which_store
from probes.config.file import Named, find_config
from probes.config.load import Config, load
from probes.store.location import default_url


def with_store(named: Named | Path | None) -> tuple[Config, str]:
    """The configuration and the URL of its store, or of the one that the command line names instead.

    No endpoint need be in the file. A person at a terminal is told which store it is, unless it is the default one.
    Raises ConfigError, and StoreProblem where there is no home to look in.
    """
    config = load(find_config(named), may_be_empty=True)
    url = config.store_url or default_url()
    say_which_store(url, named)
    return config, url

"""``alerts test``: sends one message to a channel, to see whether it arrives."""

from pathlib import Path

from probes.alerts.settings import Channel
from probes.cli.output.terminal import say
from probes.config.file import find_config
from probes.config.load import load
from probes.notify.channels import send_test
from probes.sockets import event_loop
from probes.text import line


class NoSuchChannel(Exception):  # noqa: N818  # what was asked for, not what went wrong
    """The configuration has no channel of that name; str says which it has."""

    def __init__(self, name: str, channels: tuple[Channel, ...]) -> None:
        known = ", ".join(line(one.name, 60) for one in channels)
        super().__init__(
            f"no channel {line(name, 60)}: {f'there are {known}' if known else 'the configuration has none'}"
        )


def test(config: Path | None, name: str) -> bool:
    """Send a test message to a channel, past quiet hours and silences; whether it was delivered.

    Raises ConfigError and NoSuchChannel.
    """
    channels = load(find_config(config)).alerts.channels
    channel = next((one for one in channels if one.name == name), None)
    if channel is None:
        raise NoSuchChannel(name, channels)
    result = event_loop.run(send_test(channel))
    if result.problem is None:
        say(f"{line(name, 60)}: delivered")
        return True
    maybe = "; it may have arrived all the same" if result.maybe else ""
    say(f"{line(name, 60)}: not delivered: {result.problem}{maybe}")
    return False

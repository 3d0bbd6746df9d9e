"""The ``[probe]`` and ``[[endpoint]]`` tables of a configuration, as endpoints: preset ← defaults ← overrides."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from probes.config import checks as check
from probes.config import endpoint_request as request_table
from probes.config.endpoint_keys import KeyOptions, read_headers, read_key_options
from probes.config.endpoint_route import read_route, route_to, split_socket, with_socket
from probes.config.presets import Preset, dialects, paths, presets, socket_dialects
from probes.config.table import Table
from probes.conversation import Message
from probes.endpoint import (
    DEFAULT_REASONING,
    POLICIES,
    REASONING,
    Endpoint,
    Policy,
    Price,
    Quirks,
    Reasoning,
    Timeouts,
    merged,
)
from probes.route import Route

LEAST_INTERVAL_S: Final = 0.1

DEFAULT_PROMPT: Final = (
    "Write a short story of about five hundred words: a lighthouse keeper finds a letter in a bottle. "
    "Begin with the story at once, without a title, and do not stop early."
)
"""Long enough an answer for 256 tokens of any model; every probe puts a nonce in front of it."""

_OWNED: Final[Mapping[str, Any]] = {
    "model": "model",
    "messages": "messages",
    "temperature": "temperature",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
"""Request fields that inftop sets itself, with the endpoint's option for each; presets name those of their dialects."""


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """How an endpoint is probed; the fields are `Endpoint`'s."""

    interval: float = 60.0
    prompt: str = DEFAULT_PROMPT
    max_output_tokens: int = 256
    temperature: float | None = 0.0
    reasoning: Reasoning = DEFAULT_REASONING
    timeouts: Timeouts = field(default_factory=Timeouts)
    route: Route = field(default_factory=Route)
    system: str | None = None
    messages: tuple[Message, ...] = ()


def read_settings(table: Table, usual: ProbeSettings) -> ProbeSettings:
    """The settings of ``[probe]``, or of an endpoint that overrides some; ``usual`` fills in what is not said."""
    timeout = table.table("timeout")
    limit = check.duration(0.001)
    timeouts = Timeouts(
        connect=timeout.take("connect", limit, usual.timeouts.connect),
        first_token=timeout.take("first_token", limit, usual.timeouts.first_token),
        stall=timeout.take("stall", limit, usual.timeouts.stall),
        total=timeout.take("total", limit, usual.timeouts.total),
    )
    timeout.close()
    return ProbeSettings(
        interval=table.take("interval", check.duration(LEAST_INTERVAL_S), usual.interval),
        prompt=table.take("prompt", check.text, usual.prompt),
        max_output_tokens=table.take("max_output_tokens", check.whole(1), usual.max_output_tokens),
        temperature=table.take("temperature", _temperature, usual.temperature),
        reasoning=table.take("reasoning", _level, usual.reasoning),
        timeouts=timeouts,
        route=read_route(table, usual.route),
        system=table.take("system", check.text, usual.system),
        messages=request_table.read_messages(table, usual.messages),
    )


def read_endpoint(table: Table, usual: ProbeSettings) -> Endpoint:
    """One endpoint. Where the table has problems they are noted in it, and the endpoint is not fit for use."""
    name = table.need("name", check.label) or ""
    model = table.need("model", check.label) or ""
    preset = _preset(table)
    dialect = table.take("dialect", check.one_of(dialects()), preset.dialect)
    address = table.take("base_url", with_socket(request_table.base_url(dialect, paths())), preset.base_url)
    socket, base_url = split_socket(address)
    own_query = request_table.own_query(paths().get(dialect, ""))
    settings = read_settings(table, usual)
    reasoning = _reasoning(table, preset, dialect, settings.reasoning)
    key = read_key_options(table, preset.keys)
    headers, header_keys = read_headers(table, key.key_header)
    price = _price(table)
    route = route_to(table, settings.route, socket, base_url)
    endpoint = Endpoint(
        name=name,
        provider=preset.name or (Path(route.socket).name if route.socket else urlsplit(base_url).netloc),
        model=model,
        dialect=dialect,
        base_url=base_url,
        keys=key.keys,
        key_command=key.key_command,
        key_header=key.key_header,
        headers=headers,
        header_keys=header_keys,
        body=merged(merged(preset.body, reasoning), _body(table)),
        quirks=_quirks(table, preset.quirks),
        group=table.take("group", check.label, None),
        connection=cast("Policy", table.take("connection", check.one_of(POLICIES), "warm")),
        enabled=table.take("enabled", check.flag, True),
        expect=table.take("expect", check.regex, None),
        price=price,
        interval=settings.interval,
        prompt=settings.prompt,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        reasoning=settings.reasoning,
        timeouts=settings.timeouts,
        route=route,
        path=table.take("path", request_table.path, None),
        query=request_table.read_query(table, own_query),
        system=settings.system,
        messages=settings.messages,
        aws_service=_aws_service(table, preset, key),
    )
    over_socket, dialect_over_socket = base_url.startswith("ws"), dialect in socket_dialects()
    if base_url and dialect and over_socket != dialect_over_socket:
        schemes = "ws:// or wss://" if dialect_over_socket else "http:// or https://"
        table.blame("base_url", f"the dialect {dialect} wants a {schemes} address")
    table.close()
    return endpoint


def _aws_service(table: Table, preset: Preset, key: KeyOptions) -> str | None:
    """The AWS service that requests are signed for; none where they take a key."""
    service = table.take("aws_service", check.label, preset.aws_service)
    has_key = bool(key.keys or key.key_command)
    if has_key and "aws_service" in table:
        table.blame("aws_service", 'signs requests in place of a key; for no key: key = "none"')
    return None if has_key else service


def _body(table: Table) -> dict[str, Any]:
    """The endpoint's own request fields. Those that inftop sets itself, whatever the dialect, are problems."""
    body = table.table("body")
    if "stream" in body:
        body.blame("stream", "is set by inftop: a probe always streams")
    if body.given:
        _blame_owned(body, reduce(merged, (one.owned for one in presets().values()), _OWNED))
    return body.each(check.json_value)


def _blame_owned(body: Table, owned: Mapping[str, Any]) -> None:
    for name, option in owned.items():
        if name in body and isinstance(option, Mapping):
            _blame_owned(body.table(name), option)
        elif name in body:
            body.blame(name, f"is set by inftop: use the endpoint's {option}")


def _preset(table: Table) -> Preset:
    """The provider's preset, or a blank one where none is named and the endpoint says everything itself."""
    known = presets()
    blank = Preset("", "", "", "", (), Quirks(), {}, {}, "")
    name = table.take("provider", check.one_of(known), "")
    given = {"key" if one == "key_command" else one for one in table}
    if "provider" not in table and (missing := [key for key in ("dialect", "base_url", "key") if key not in given]):
        named = ", ".join(f"'{key}'" for key in missing)
        table.blame("", f"missing key 'provider' (or else {named}); providers: {', '.join(known)}")
    return known.get(name, blank)


def _reasoning(table: Table, preset: Preset, dialect: str, level: Reasoning) -> Mapping[str, Any]:
    """The request fields that set a level; a level that the provider does not have is a problem of the table."""
    if level == DEFAULT_REASONING:
        return {}
    if dialect == preset.dialect and level in preset.reasoning:
        return preset.reasoning[level]
    advice = f'write the request field into body, and reasoning = "{DEFAULT_REASONING}"'
    if not preset.name:
        table.blame("reasoning", f"without a provider nobody knows how to set {level!r}; {advice}")
    elif dialect != preset.dialect:
        table.blame("reasoning", f"how to set {level!r} is known for {preset.name} in {preset.dialect} only; {advice}")
    else:
        table.blame("reasoning", f"{preset.name} cannot set {level!r}; allowed: {', '.join(preset.reasoning_levels)}")
    return {}


def _quirks(table: Table, quirks: Quirks) -> Quirks:
    """The preset's quirks; an endpoint that names a temperature itself gets it sent."""
    return replace(quirks, temperature=True) if "temperature" in table else quirks


def _temperature(value: object) -> float | None:
    """A temperature, or None for ``"none"``: the field is left out."""
    return None if value == "none" else check.number(value)


def _level(value: object) -> Reasoning:
    return cast("Reasoning", check.one_of((*REASONING, DEFAULT_REASONING))(value))


def _price(table: Table) -> Price | None:
    price = table.table("price")
    if not price.given:
        return None
    usd = (price.need("input", check.number), price.need("output", check.number))
    price.close()
    return None if None in usd else Price(*cast("tuple[float, float]", usd))

"""The command line without a screen: a Typer app whose functions only call those of `probes.cli.commands`.

The screen's command line (`tui.cli`) adds its commands to this `app` and replaces its callback. Results go to
standard output, narration to standard error; exit codes are in `probes.cli.exit_codes`.
"""

import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from probes.cli import completion
from probes.cli.alerts_app import alerts_app, incident_app
from probes.cli.ask_app import ask_app
from probes.cli.command_line import CommandLine
from probes.cli.exit_codes import ExitCode, exit_code_of, message_of
from probes.cli.history_app import history_app
from probes.cli.keys_app import keys_app
from probes.cli.options import ConfigOption, ForOption, JsonOption, VersionOption, seconds_of, usage_errors
from probes.cli.races_app import races_app
from probes.cli.setup_app import setup_app

app = CommandLine(
    name="inftop",
    help="top for inference: watch the speed and health of LLM inference endpoints.",
    no_args_is_help=True,
)
RACE_VIEW: Final = "inftop.race_view"
"""The key in the context's ``meta`` under which a screen, if there is one, puts the function that shows a race."""

_LATE_MS: Final = 1 << 52
"""An instant far in the future: what is a time ago lies as long before it, however long that is."""

GIVEN: Final = "inftop.given"
"""The key in the context's ``meta`` of the options of the screen that the command line gives."""

app.add_typer(ask_app)
app.add_typer(alerts_app, name="alerts")
app.add_typer(incident_app)
app.add_typer(keys_app, name="keys")
app.add_typer(races_app, name="races")
app.add_typer(history_app, name="history")
app.add_typer(setup_app)


@app.callback()
def options(ctx: typer.Context, config: ConfigOption = None, version: VersionOption = False) -> None:  # noqa: ARG001
    """Keep what every command may need: the context's object is the path given with --config, or None."""
    ctx.obj = config


@app.command()
def check(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Say what the configuration comes to.

    Where every endpoint is, whether it has its key, and the most a day can use. Exit code 2 where the file is wrong.
    """
    from probes.cli.commands.check import check

    check(ctx.obj, as_json=as_json)


@app.command()
def record(
    ctx: typer.Context,
    lasting: ForOption = None,
    demo: Annotated[bool, typer.Option("--demo", help="Record simulated providers.", hidden=True)] = False,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="[HOST]:PORT", help="Serve metrics for Prometheus; without HOST to this machine alone."),
    ] = None,
    api: Annotated[
        bool, typer.Option("--api", help="Answer who is best and how all is, as JSON, at the address of --metrics.")
    ] = False,
    api_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name that the API may be asked by, such as a proxy's."),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name of the bearer token to ask for; needed beyond this machine."),
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Push metrics to an OpenTelemetry collector, like http://localhost:4318."),
    ] = None,
    metrics_names: Annotated[
        Literal["new", "both", "old"],
        typer.Option(help="Names of times in metrics: those of a client, the deprecated ones of a server, or both."),
    ] = "both",
    metrics_detail: Annotated[
        Literal["basic", "full"],
        typer.Option(help="What a scrape tells: what dashboards and alerts need, or every series."),
    ] = "basic",
    need_store: Annotated[
        bool, typer.Option("--need-store", help="Stop where the store is away, instead of keeping samples for it.")
    ] = False,
) -> None:
    """Record without a screen: one line per sample, a table at the end.

    Any number of screens can attach to what it records. Exit code 3 where another recorder has the store, where it will
    not take samples, and where any was not stored in the end.
    """
    from probes.cli.commands.record import record
    from probes.metrics.publishing import Publishing

    try:
        publishing = Publishing.from_options(
            *(metrics, otlp, metrics_names, metrics_detail), api=api, api_hosts=api_host or (), api_key=api_key
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    record(ctx.obj, demo=demo, seconds=seconds_of(lasting), publishing=publishing, need_store=need_store)


@app.command()
def reload(ctx: typer.Context) -> None:
    """Have the recorder look at its configuration file, and say what changed.

    It looks twice a second by itself, wherever it runs: this waits for its next word in the store that the
    configuration names. Exit code 1 where no recorder answers, 2 where the file is wrong: the last good one stays then.
    """
    from probes.cli.commands.reload import reload

    if code := reload(ctx.obj):
        raise typer.Exit(code)


@app.command()
def probe(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Endpoints; all if none.", autocompletion=completion.endpoints),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="NAME",
            help="The endpoints of a group, ranked at the end.",
            autocompletion=completion.groups,
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, help="Probes of each endpoint.")] = 1,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="An API, without any configuration; with --model.")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider",
            metavar="NAME",
            help="One of inftop providers, likewise.",
            autocompletion=completion.providers,
        ),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model to ask there.")] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="What is spoken there, where it is not known.",
            autocompletion=completion.dialects,
        ),
    ] = None,
    key_env: Annotated[
        str | None,
        typer.Option(
            "--key-env",
            metavar="NAME",
            help="The name of its key, if not the provider's; none: no key.",
            autocompletion=completion.keys,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Probe endpoints once, now, one at a time.

    Of the configuration, or with --url or --provider any other, and then no configuration is read. Nothing is stored.
    With --json, one object per sample and line, and no ranking. Exit code 1 where a sample is not ok.
    """
    from probes.cli.commands.probe import endpoint_of, probe, probe_given

    if url is not None or provider is not None:
        if names or group is not None:
            raise typer.BadParameter("name endpoints of the configuration, or --url or --provider, not both")
        if ctx.obj is not None:
            raise typer.BadParameter("with --url or --provider no configuration is read", param_hint="--config")
        if model is None:
            raise typer.BadParameter("is needed with --url or --provider (inftop models)", param_hint="--model")

        endpoint = endpoint_of(model=model, provider=provider, url=url, dialect=dialect, key=key_env)
        all_ok = probe_given(endpoint, count=count, as_json=as_json)
    else:
        for option, value in (("--model", model), ("--dialect", dialect), ("--key-env", key_env)):
            if value is not None:
                raise typer.BadParameter("needs --url or --provider", param_hint=option)
        if names and group is not None:
            raise typer.BadParameter("name endpoints or a group, not both")
        all_ok = probe(ctx.obj, names or [], group=group, count=count, as_json=as_json)
    if not all_ok:
        raise typer.Exit(ExitCode.NOT_OK)


@app.command()
def race(
    ctx: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME NAME [NAME [NAME]] [PROMPT]",
            help="Two to four endpoints.",
            autocompletion=completion.endpoints,
        ),
    ],
    prompt: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A prompt of the configuration's library.", autocompletion=completion.prompts
        ),
    ] = None,
    prompt_file: Annotated[Path | None, typer.Option(metavar="FILE", help="A file that holds the prompt.")] = None,
    max_output_tokens: Annotated[int, typer.Option(metavar="N", min=1, help="The cap of every answer.")] = 512,
    heats: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=100, help="How often to repeat it: 1 on a screen, else 5."),
    ] = None,
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="Stop early, or go on, until decided.")
    ] = False,
    max_heats: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="The most, with --until-decided.")] = 20,
    budget: Annotated[float | None, typer.Option(metavar="USD", min=0, help="The most it may cost.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Open new connections for every heat.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Race simulated models.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="No screen: a live line for each lane.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Race models on one prompt, and say who is faster and whether that was luck.

    All are started together, and every heat says within how many milliseconds that was. On a terminal in the race
    view, else in lines: exit code 1 where no lane comes to the finish.
    """
    from probes.cli.commands.race import RaceArguments, race, read_request

    on_screen = None if plain or as_json else ctx.meta.get(RACE_VIEW)
    arguments = RaceArguments(
        words=tuple(words),
        prompt_name=prompt,
        prompt_file=prompt_file,
        max_output_tokens=max_output_tokens,
        heats=heats or (1 if on_screen else 5),
        max_heats=max_heats if until_decided else None,
        until_decided=until_decided,
        budget_usd=budget,
        cold=cold,
    )
    if on_screen is not None:
        on_screen(ctx.obj, read_request(ctx.obj, arguments, demo=demo), ctx.meta.get(GIVEN, {}), demo=demo)
    elif not race(ctx.obj, arguments, demo=demo, as_json=as_json):
        raise typer.Exit(ExitCode.NOT_OK)


@app.command()
def gate(
    ctx: typer.Context,
    new: Annotated[
        list[str],
        typer.Argument(metavar="NEW", help="Endpoints to judge.", autocompletion=completion.endpoints),
    ],
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="BASE",
            help="The endpoint to compare with, probed in turn.",
            autocompletion=completion.endpoints,
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="TIME", help="Or so much of its own past: 28d.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="LIMIT", help='Or a limit: "ttft p50 < 400ms"; may be repeated.'),
    ] = None,
    margin: Annotated[str, typer.Option(metavar="SHARE", help="How much worse is worse: longer, or slower.")] = "20%",
    margin_errors: Annotated[
        str, typer.Option(metavar="SHARE", help="The same for failures, in points of their rate.")
    ] = "2%",
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Of ttft, ttfa, e2e, tokens_per_s and errors. Default: ttft,tokens_per_s,errors.",
        ),
    ] = None,
    max_probes: Annotated[int, typer.Option(metavar="N", help="The most probes in all.")] = 200,
    max_usd: Annotated[float, typer.Option(metavar="USD", min=0, help="The most that they may cost in all.")] = 0.10,
    inconclusive: Annotated[
        Literal["pass", "fail"] | None,
        typer.Option(help="What an inconclusive one counts as. Default: exit code 5."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say how many probes, minutes and dollars it takes, and send nothing.")
    ] = False,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write a JUnit report too.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Judge simulated models.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge whether an endpoint is worse than another, than its past, or than a limit.

    Probes are sent in turn until that is shown, or a cap is reached: pass, fail, or inconclusive (exit codes 0, 1, 5).
    They count in the day's budget, and are in no figure of the endpoints. In GitHub Actions the verdict is also an
    annotation and a table in the job's summary.
    """
    from probes.cli.commands.gate import GateArguments, GateOutputs, gate, gate_request

    request = gate_request(
        GateArguments(
            new=tuple(new),
            against=against,
            baseline=baseline,
            limits=tuple(limit or ()),
            metrics=metric,
            margin=margin,
            margin_errors=margin_errors,
            max_probes=max_probes,
            max_usd=max_usd,
            inconclusive=inconclusive,
        )
    )
    if plan:
        from probes.cli.commands.gate_plan import gate_plan

        gate_plan(ctx.obj, request, demo=demo, as_json=as_json)
        return
    outputs = GateOutputs(as_json=as_json, junit=junit)
    if code := gate(ctx.obj, request, outputs, demo=demo):
        raise typer.Exit(code)


@app.command(hidden=True)
def run(
    ctx: typer.Context,
    demo: Annotated[bool, typer.Option("--demo")] = False,
    races: Annotated[bool, typer.Option("--races", help="Probe nothing but what races.")] = False,
) -> None:
    """Be the engine of a screen: frames on standard output, commands on standard input."""
    from probes.cli.commands.run import run

    run(ctx.obj, demo=demo, watching=not races)


@app.command(hidden=True)
def measure(stage: Path) -> None:
    """Be the engine of a selftest's screen."""
    from probes.cli.commands.selftest_engine import measure

    measure(stage)


@app.command(hidden=True)
def truth() -> None:
    """Be the ground-truth server of a selftest until standard input ends."""
    from probes.selftest.pacer import serve_process

    serve_process()


@app.command(hidden=True)
def simulate() -> None:
    """Serve the demo's simulated providers until standard input ends."""
    from probes.cli.commands.simulate import simulate

    simulate()


Repeated = list[str] | None


@app.command()
def export(
    ctx: typer.Context,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="The first: 24h or 7d ago, or a time. Default: 24h.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="WHEN", help="Where to end; default: now.")] = None,
    endpoint: Annotated[
        Repeated, typer.Option(metavar="NAME", help="Only these; may be repeated.", autocompletion=completion.endpoints)
    ] = None,
    group: Annotated[
        Repeated, typer.Option(metavar="NAME", help="Only endpoints of this group.", autocompletion=completion.groups)
    ] = None,
    provider: Annotated[
        Repeated, typer.Option(metavar="NAME", help="Only those of this provider.", autocompletion=completion.providers)
    ] = None,
    vantage: Annotated[
        Repeated, typer.Option(metavar="NAME", help="Only what was recorded there.", autocompletion=completion.vantages)
    ] = None,
    connection: Annotated[
        Repeated, typer.Option(metavar="KIND", help="Only warm or cold ones.", autocompletion=completion.connections)
    ] = None,
    outcome: Annotated[
        Repeated, typer.Option(metavar="WORD", help="Only those that ended so.", autocompletion=completion.outcomes)
    ] = None,
    kind: Annotated[
        Literal["scheduled", "confirm", "gate", "all"],
        typer.Option(help="confirm: those that tell a failure from a blip; gate: those of inftop gate."),
    ] = "scheduled",
    rollup: Annotated[
        Literal["minute", "hour", "day", "month"] | None, typer.Option(help="Counts and quantiles of each, no samples.")
    ] = None,
    columns: Annotated[str | None, typer.Option(metavar="A,B,C", help="These columns, in this order.")] = None,
    tz: Annotated[str, typer.Option(metavar="ZONE", help="utc, local, or a name such as Europe/Berlin.")] = "utc",
    format: Annotated[  # noqa: A002
        Literal["csv", "jsonl", "parquet"], typer.Option(help="CSV, one JSON object a line, or Parquet.")
    ] = "csv",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A file; default: standard output.")
    ] = None,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Write the newest selftest beside FILE, as FILE.certificate.json.")
    ] = False,
) -> None:
    """Export stored samples, or what every minute, hour, day or month of them comes to.

    Times are ISO 8601, in UTC or the zone of --tz where they name none. Options that choose may be repeated. A file
    appears whole or not at all.
    """
    from probes.cli.commands.export import export
    from probes.exports.request import export_request

    if certificate and output is None:
        raise typer.BadParameter("--certificate stands beside a file: name one with --output")
    chosen = {"endpoints": endpoint, "providers": provider, "vantages": vantage, "connections": connection}
    with usage_errors():
        words = {**chosen, "outcomes": outcome}
        request = export_request(since or "24h", until, words, kind=kind, rollup=rollup, columns=columns, zone=tz)
    export(
        ctx.obj,
        request,
        groups=group or (),
        format=format,
        output=output,
        certificate=certificate,
        since_given=since is not None,
    )


@app.command()
def report(
    ctx: typer.Context,
    since: Annotated[str, typer.Option(metavar="WHEN", help="From when on: 24h or 7d ago, or a time.")] = "7d",
    endpoint: Annotated[
        Repeated, typer.Option(metavar="NAME", help="Only these; may be repeated.", autocompletion=completion.endpoints)
    ] = None,
    group: Annotated[
        Repeated, typer.Option(metavar="NAME", help="Only endpoints of this group.", autocompletion=completion.groups)
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Without names of endpoints, places and hosts, and people's notes.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page; - is standard output.")
    ] = Path("report.html"),
    watch: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep a page there up to date, redacted, for a web server.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="With --watch: not redacted.")] = False,
    lasting: ForOption = None,
    tz: Annotated[str, typer.Option(metavar="ZONE", help="utc, local, or a name such as Europe/Berlin.")] = "utc",
    as_json: JsonOption = False,
) -> None:
    """Make one HTML page of the store: ranking, charts, incidents, races, accuracy.

    It asks nobody for anything, opens from disk, and is below a megabyte. With --watch, index.html, status.json and
    badge.json are written anew every minute. Exit code 6 where nothing was recorded.
    """
    from probes.cli.commands.report import ReportArguments, report, report_into
    from probes.durations import parse_when, zone_of

    if watch is not None and as_json:
        raise typer.BadParameter("--json prints once: it goes without --watch")
    if watch is None and (full or lasting is not None):
        raise typer.BadParameter("needs --watch", param_hint="--full" if full else "--for")
    if full and redact:
        raise typer.BadParameter("--redact and --full contradict each other")
    with usage_errors():
        zone = zone_of(tz)
        begin, later = (parse_when(since, now_ms=now, zone=zone) for now in (_LATE_MS, 2 * _LATE_MS))
    arguments = ReportArguments(
        since=begin if begin == later else None,
        back_ms=_LATE_MS - begin,
        zone=zone,
        endpoints=tuple(endpoint or ()),
        groups=tuple(group or ()),
        is_redacted=redact or (watch is not None and not full),
    )
    if watch is not None:
        report_into(ctx.obj, arguments, watch, seconds_of(lasting))
    else:
        report(ctx.obj, arguments, output, as_json=as_json)


def main() -> None:
    """Run the command line of this process, and leave with an exit code."""
    try:
        app()
    except Exception as error:
        code = exit_code_of(error)
        if code is None:
            raise
        print(message_of(error), file=sys.stderr)  # noqa: T201
        sys.exit(code)

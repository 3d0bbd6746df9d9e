"""Runner: one lane on its way through one heat."""

import time

from probes.endpoint import Endpoint
from probes.engine.race.start_barrier import StartBarrier
from probes.events import Kind, Output
from probes.figures.plausible import plausible_running_count
from probes.keys.redaction import REPLACEMENT, Redactions
from probes.measure.exchange import ProbeOverrides
from probes.measure.probe import Prober, ProbeResult
from probes.outcome import Outcome
from probes.race.heat import LaneResult
from probes.race.progress import ProgressTracker
from probes.race.recording import OutputEvent, Recording
from probes.race.updates import LaneNews, LaneState, pieces
from probes.text import plain
from probes.wire.credentials import Credentials


class LaneRunner:
    """Runs its lane once. What it has said since it was last asked is in `news`; nothing of it waits for anybody.

    ``chars_per_token`` is that of an earlier answer of the lane, for the speed of one that is not counted yet.
    """

    def __init__(self, prober: Prober, lane: int, chars_per_token: float | None) -> None:
        self.endpoint: Endpoint = prober.endpoint
        self.result: LaneResult | None = None
        self.place: int | None = None
        self._prober = prober
        self._lane = lane
        self._state: LaneState = "preparing"
        self._gun: StartBarrier | None = None
        self._chars_per_token = chars_per_token
        self._track = ProgressTracker(0, chars_per_token)
        self._moments: list[OutputEvent] = []
        self._told = 0
        self._heard: dict[Kind, str] = {}
        self._chars = 0

    async def prepare(self, credentials: Credentials | None) -> None:
        """Have its connection open before the heat, unless it opens a new one each time."""
        await self._prober.prepare(credentials)

    async def run(self, credentials: Credentials | None, nonce: str, gun: StartBarrier) -> LaneResult:
        """Wait for the gun and answer the prompt, this nonce in front of it. Never raises a failure."""
        self._gun = gun

        async def gate() -> None:
            self._state = "ready"
            await gun.ready(self._lane)
            self._state = "running"

        def on_output(output: Output, at: int) -> None:
            text = plain(output.text)
            if credentials is not None:
                text = self._without(credentials.redaction, text, output.kind, draft=output.draft)
            self._chars += len(output.text)
            tokens = plausible_running_count(output.tokens, self._chars, self.endpoint)
            moment = OutputEvent(at - (gun.fired_at or at), output.kind, text, tokens, output.draft)
            self._moments.append(moment)
            self._track.add(moment)

        try:
            probed = await self._prober.probe(credentials, overrides=ProbeOverrides(nonce, gate, on_output))
        finally:
            gun.scratch(self._lane)
        self.result = self._result(probed, gun)
        self._state = "finished"
        return self.result

    def refuse(self, gun: StartBarrier, result: LaneResult) -> None:
        """End without having run."""
        gun.scratch(self._lane)
        self.result = result
        self._state = "finished"

    def _without(self, keys: Redactions, text: str, kind: Kind, *, draft: bool) -> str:
        """A piece of text with `REPLACEMENT` for what belongs to a part of a key, which may be cut over many pieces.

        What earlier pieces held of that part is taken out of the recording, and so of what was not told yet.
        """
        before = "" if draft else self._heard.get(kind, "")
        found = keys.spans_after(before, text)
        self._heard[kind] = (before + text)[-keys.reach :]
        shown, place = "", 0
        for start, stop in found:
            self._take_back(kind, -start)
            shown, place = f"{shown}{text[place : max(start, 0)]}{REPLACEMENT}", stop
        return shown + text[place:]

    def _take_back(self, kind: Kind, chars: int) -> None:
        """Remove the last ``chars`` characters of this kind from the recording; what was replaced already stays."""
        for place in range(len(self._moments) - 1, -1, -1):
            one = self._moments[place]
            if chars <= 0 or one.draft or one.text.endswith(REPLACEMENT):
                return
            if one.kind is kind:
                self._moments[place] = one._replace(text=one.text[:-chars])
                chars -= len(one.text)

    @property
    def sent(self) -> int | None:
        """When its request went out, ns since the gun."""
        return self.result.recording.sent if self.result else None

    def news(self, now: int) -> LaneNews:
        """What it said since it was last asked, and how it stands at ``now`` (monotonic ns)."""
        new, self._told = self._moments[self._told :], len(self._moments)
        fired = self._gun.fired_at if self._gun else None
        at = 0 if fired is None else now - fired
        if self.result is not None:
            at = self.result.recording.end or at
        return LaneNews(
            name=self.endpoint.name,
            state=self._state,
            progress=self._track.progress(max(at, self._moments[-1].at if self._moments else at)),
            pieces=pieces(new),
            sample=self.result.sample if self.result else None,
            place=self.place,
        )

    def _result(self, probed: ProbeResult, gun: StartBarrier) -> LaneResult:
        sample, timeline = probed.sample, probed.timeline
        # what was heard as the answer may have turned out to be reasoning
        kinds = (one.kind for one in timeline.contents)
        moments = tuple(one._replace(kind=kind) for one, kind in zip(self._moments, kinds, strict=False))
        sent = end = None
        if gun.fired_at is not None and timeline.sent is not None and timeline.sent >= gun.fired_at:
            sent = timeline.sent - gun.fired_at
            over = sample.outcome is Outcome.OK and timeline.contents
            end = (timeline.contents[-1].at if over else time.monotonic_ns()) - gun.fired_at
        recording = Recording(sent, end, moments)
        self._track = ProgressTracker.settled(
            recording, sample, self._chars_per_token
        )  # the same way again, all being known
        for one in moments:
            self._track.add(one)
        return LaneResult(self.endpoint.name, sample, recording, probed.text)


def finished(result: LaneResult) -> bool:
    """Whether a lane came to the finish, and with the right answer."""
    return result.sample.outcome is Outcome.OK and result.sample.expect_ok is not False

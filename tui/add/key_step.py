"""The second step, where a key is missing: it is typed unseen, tested by one request, and kept in the keyring."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from probes.keys import keyring
from probes.keys.keyring import KeyringMissing
from probes.keys.secret import Secret
from probes.text import line
from tui.add.api import Api, key_name_for
from tui.add.flow import AddFlow
from tui.add.keys import KEY_STEP_KEYS
from tui.add.models_step import ModelsStep, ask_for_models
from tui.add.offer import Offer
from tui.add.step import AddStep
from tui.keys.keymap import disabled_if
from tui.screens.off_loop import off_loop
from tui.sources.own_commands import CommandFailed
from tui.widgets.hidden_line import HiddenLine
from tui.widgets.plate import Plate


class KeyStep(AddStep):
    """Asks for the key of an API. It is given to the process that tests it and to the keyring, and to nobody else."""

    STEP = "key"
    KEYS = KEY_STEP_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [*KEY_STEP_KEYS.bindings]
    DEFAULT_CSS = """
    KeyStep { #about { height: 6; margin-top: 1; } #foot { height: 1fr; } }
    """

    def __init__(self, flow: AddFlow, api: Api) -> None:
        super().__init__(flow, api.place)
        self._api = api if api.key else replace(api, key=key_name_for(api.url or ""))
        self._key_name = self._api.key or ""
        self._about = Plate(id="about")
        self._unkept: tuple[Secret, Offer] | None = None

    def content(self) -> ComposeResult:
        """What is asked for, and the line it is typed into."""
        yield self._about
        yield HiddenLine(self._key_name)
        yield self.foot

    def on_mount(self) -> None:
        """Ready to be typed into."""
        rows = [
            (("The key of ", "label"), (self._api.place, "figure")),
            (),
            (("It is tested by asking for the list of models, which costs nothing, and kept in", "label"),),
            (("the system's keyring under ", "label"), (self._key_name, "figure"), (": never in a file.", "label")),
        ]
        self._about.draw(rows)
        self.query_one(HiddenLine).focus()
        self.draw_foot()

    @on(HiddenLine.Taken)
    def _typed(self, event: HiddenLine.Taken) -> None:
        event.stop()
        if not self.busy:
            self.work(f"testing it with {self._api.place}")
            self.run_worker(self._test(event.secret), group="key", exit_on_error=False)

    @on(HiddenLine.Left)
    def _left(self, event: HiddenLine.Left) -> None:
        """Escape was pressed in the line, or it was clicked elsewhere."""
        event.stop()
        if self.is_current and not self.busy and self._unkept is None:
            self.dismiss()

    async def _test(self, secret: Secret) -> None:
        """Ask for the models with the key; only one that is refused is not kept."""
        try:
            offer = await ask_for_models(self.flow, self._api, secret)
        except CommandFailed as failed:
            self.say((f"It could not be tested: {failed}", "error"), ("Type it again to try once more.", "label"))
            return
        if offer.refused:
            said = secret.hide(offer.problem or "the key was refused")
            self.say((f"✕ {said}", "error"), ("Type or paste another one.", "label"))
            return
        self.work("putting it into the keyring")
        try:
            await off_loop(lambda: keyring.write(self._key_name, secret))
        except KeyringMissing as missing:
            self._unkept = (secret, offer)
            self._say_unkept(str(missing).partition(";")[0])
            return
        self.say()
        self._go_on(offer)

    def _say_unkept(self, why: str) -> None:
        self.set_focus(None)
        self.query_one(HiddenLine).display = False
        can = self.flow.use_for_this_run is not None
        how = "Enter uses it for this run alone. To keep it" if can else "Leave inftop, then"
        self.say(
            (f"The key is right, but not kept: {line(why)}.", "warning"),
            (f"{how}: export {self._key_name}=…  in your shell, then inftop.", "figure"),
        )

    def _go_on(self, offer: Offer) -> None:
        """To the models; Escape there leads back to the step before this one."""
        flow, api = self.flow, replace(self._api, key_source="keyring")
        self.app.switch_screen(ModelsStep(flow, api, offer))

    def disabled_keys(self) -> Mapping[str, str]:
        """Which keys do nothing now."""
        offered = self._unkept is not None and self.flow.use_for_this_run is not None
        return {
            **disabled_if(not offered, ("add.this_run",)),
            **disabled_if(self._unkept is None, ("add.again",)),
        }

    def action_this_run(self) -> None:
        """Use the key until inftop ends."""
        if self._unkept is not None and self.flow.use_for_this_run is not None:
            secret, offer = self._unkept
            self._unkept = None
            self.flow.use_for_this_run(self._key_name, secret)
            self._go_on(offer)

    def action_type_again(self) -> None:
        """Another key."""
        self._unkept = None
        line_ = self.query_one(HiddenLine)
        line_.display = True
        self.say()
        line_.focus()

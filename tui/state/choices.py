"""What is chosen of the screen's options, and what says so: the command line, the configuration, or the run before."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from probes.config.screen import CHOICES, FixedOption, Option


@dataclass(frozen=True, slots=True)
class Choices:
    """Where an option's value may come from. The first of these that has one wins.

    ``given`` on the command line, ``fixed`` by ``[screen]`` of the configuration, ``kept`` from an earlier run, and the
    ``defaults``. The options in ``passing`` hold for this run only: they are neither taken from ``kept`` nor kept.
    """

    given: Mapping[Option, str] = field(default_factory=dict)
    fixed: Mapping[Option, FixedOption] = field(default_factory=dict)
    kept: Mapping[Option, str] = field(default_factory=dict)
    passing: frozenset[Option] = frozenset()
    defaults: Mapping[Option, str] = field(default_factory=dict)

    def value(self, option: Option) -> str:
        """What the option is when the screen begins."""
        if option in self.given:
            return self.given[option]
        if option in self.fixed:
            return self.fixed[option].value
        if option in self.kept and option not in self.passing:
            return self.kept[option]
        return self.defaults[option]

    @property
    def values(self) -> dict[Option, str]:
        """The value of every option."""
        return {option: self.value(option) for option in CHOICES}

    def keeps(self, option: Option, value: str) -> bool:
        """Whether the option is kept for the next run when it gets this value; a wall is not, as it shows no keys."""
        return option not in self.fixed and option not in self.passing and value != "wall"

    def origin(self, option: Option, current: str, changed: frozenset[Option]) -> str:
        """Where the ``current`` value of an option comes from, in words; ``changed`` are those changed in this run."""
        if option in self.fixed:
            fixed = self.fixed[option]
            said = f"fixed by {fixed.at}"
            return said if current == fixed.value else f"for this run; {said}: {fixed.value}"
        if option in changed:
            return "kept" if self.keeps(option, current) else "for this run"
        if option in self.given:
            return f"--{'wall' if option == 'view' else option}, for this run"
        return "kept" if option in self.kept and option not in self.passing else "as shipped"

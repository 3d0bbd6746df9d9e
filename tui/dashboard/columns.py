"""Columns: which parts of an endpoint's row fit a width, and how wide each is; a function of the width alone."""

from dataclasses import dataclass, replace
from typing import Final

MARKER: Final = 2  # the cursor of the selected row, and the endpoint's colour
HITS: Final = 5
HEADROOM: Final = 6
BUCKET: Final = 13  # "  out tok/min"
RESET: Final = 10  # " empty 59m"
KIND: Final = 14  # "server error", "rate limited"
AGE: Final = 7

WIDEST_SPARK: Final = 96
WIDEST_NAME: Final = 36


@dataclass(frozen=True, slots=True)
class Columns:
    """The parts of a row, left to right. Widths in cells; a part with False or 0 is not drawn.

    ``spark`` is the width of the two timing sparklines and with it the number of time slices; the other two are
    half as wide (``half``), two slices a cell. ``state`` holds a glyph, a blank and a word, or "  24 s ago". ``gap``
    stands between sections; ``figure`` is the width of a number with the blank before it ("60,000", "<0.1 %").
    """

    name: int
    state: int = 12
    spark: int = 0
    half: int = 0
    gap: int = 2
    figure: int = 7
    ttft_p50: bool = True
    ttft_p95: bool = True
    speed_p50: bool = True
    error_count: bool = True
    error_kind: bool = True
    hits: bool = True
    headroom: bool = True
    bucket: bool = True
    reset: bool = True
    age: bool = True
    due: bool = True

    @property
    def ttft(self) -> int:
        """Width of the TTFT section."""
        return self.spark + self.figure * (1 + self.ttft_p50 + self.ttft_p95)

    @property
    def speed(self) -> int:
        """Width of the tokens/s section."""
        return self.spark + self.figure * (1 + self.speed_p50)

    @property
    def errors(self) -> int:
        """Width of the errors section."""
        return self.half + self.figure * (1 + self.error_count) + KIND * self.error_kind

    @property
    def limits(self) -> int:
        """Width of the rate-limit section."""
        rate_limits = HEADROOM * self.headroom + BUCKET * self.bucket + RESET * self.reset
        return self.half + HITS * self.hits + rate_limits

    @property
    def width(self) -> int:
        """Width of a whole row."""
        sections = [MARKER + self.name + 1 + self.state, self.ttft, self.speed, self.errors, self.limits]
        times = AGE * self.age + AGE * self.due
        return sum(sections) + self.gap * (len(sections) - 1) + times


def columns(width: int, longest_name: int) -> Columns:
    """The columns of a row ``width`` cells wide. Names stay whole.

    As the width shrinks, first the extras go (times, counts, the bucket, the kind of the last error), the sparklines
    shrink, then p95, headroom, the small sparklines and the medians are dropped. Room left over goes to the sparklines.
    """
    full = Columns(name=longest_name)
    times = replace(full, age=False, due=False)
    usual = replace(times, error_kind=False, bucket=False)
    plain = replace(usual, error_count=False, gap=1, state=9)
    no_p95 = replace(plain, ttft_p95=False)
    no_headroom = replace(no_p95, headroom=False, reset=False, figure=6)
    narrow = replace(no_headroom, speed_p50=False)
    narrower = replace(narrow, ttft_p50=False)
    candidates = (
        (full, 24), (times, 20), (usual, 14), (plain, 10), (no_p95, 8), (no_headroom, 8),
    )  # fmt: skip
    for candidate, least in candidates:
        if candidate.width + 2 * least + 2 * (least // 2) <= width:
            return _filled(candidate, width)
    for candidate in (no_headroom, narrow, narrower):
        if candidate.width + 2 * 5 <= width:
            return replace(candidate, spark=(width - candidate.width) // 2)
    return replace(narrower, hits=False)


def _filled(candidate: Columns, width: int) -> Columns:
    """The columns with what is left of the width given to sparklines, then names, then gaps."""
    room = width - candidate.width
    spark = min(room // 3, WIDEST_SPARK)
    if 2 * spark + 2 * _half(spark) > room:
        spark -= 1
    grown = replace(candidate, spark=spark, half=_half(spark))
    name = min(grown.name + width - grown.width, max(grown.name, WIDEST_NAME))
    grown = replace(grown, name=name)
    return replace(grown, gap=min(grown.gap + (width - grown.width) // 4, 6))


def _half(spark: int) -> int:
    """Cells of a sparkline that draws two slices in each."""
    return (spark + 1) // 2

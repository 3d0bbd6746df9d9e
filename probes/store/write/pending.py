"""What is on its way into a store: samples, and the batches in which they are written."""

from dataclasses import dataclass
from typing import NamedTuple

from probes.sample import Sample


@dataclass(slots=True)
class PendingSample:
    """A sample to be stored, and the text of its answer where it is the last one of its endpoint."""

    sample: Sample
    answer: str | None


class BatchId(NamedTuple):
    """Tells a batch from every other: the name of the run that made it, and a number that only grows."""

    name: str
    number: int

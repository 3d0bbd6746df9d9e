"""The samples of a file as every format gives them: one by one, each with its place."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from probes.sample import Sample


class Samples(ABC):
    """The samples of a file, one by one; each format is a subclass.

    ``columns`` are those of the samples so far, known once the first was read; ``place`` is where the newest stands,
    such as "line 7".
    """

    columns: Sequence[str] = ()
    place: str = ""

    @abstractmethod
    def __iter__(self) -> Iterator[Sample]:
        """Raises ImportRefused where the file is not as it must be."""

    @property
    def lacking(self) -> int:
        """How many samples so far lack a column that another one has."""
        return 0

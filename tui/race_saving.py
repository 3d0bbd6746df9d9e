"""RaceSaving: a picture of a race, and its answers as text, in the working directory."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from tui.exporting import free


def save(folder: Path, started_at: int, picture: str, answers: Mapping[str, str], words: str) -> tuple[Path, Path]:
    """Write the SVG ``picture``, and the ``answers`` by lane under the verdict's ``words``; where they are.

    The files are named after the race's start (ms) and never written over others. Raises OSError.
    """
    moment = datetime.fromtimestamp(started_at / 1000, UTC).astimezone()
    name = folder.absolute() / f"inftop-race-{moment:%Y%m%d-%H%M%S}"
    drawn, said = free(name.with_suffix(".svg")), free(name.with_suffix(".txt"))
    drawn.write_text(picture, encoding="utf-8")
    said.write_text(
        "\n".join([words, "", *(f"== {name}\n\n{text}\n" for name, text in answers.items())]), encoding="utf-8"
    )
    return drawn, said

"""SmallTerminal: what a terminal shows of the few escape sequences a cast is made of; any other fails the test."""

import re
import unicodedata

_PIECE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([^\x1b])")


def width(character: str) -> int:
    """By the Unicode tables, as terminals do."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or 0x1F3FB <= ord(character) <= 0x1F3FF:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class SmallTerminal:
    """``width`` × ``height`` cells, each a character with what joins it; the second cell of a wide one is empty."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cells = [[" "] * width for _ in range(height)]
        self.styles = [[""] * width for _ in range(height)]
        self.row = self.column = 0
        self.style = ""

    def write(self, data: str) -> None:
        assert _PIECE.sub("", data) == "", "an escape sequence that is not known, or cut"
        for arguments, command, character in _PIECE.findall(data):
            if character:
                self._print(character)
            elif command == "H":
                row, column = map(int, arguments.split(";"))
                assert 1 <= row <= self.height
                assert 1 <= column <= self.width
                self.row, self.column = row - 1, column - 1
            elif command == "m":
                self.style = "" if arguments == "0" else arguments
            elif command == "X":
                end = self.column + int(arguments)
                assert end <= self.width
                self.cells[self.row][self.column : end] = [" "] * int(arguments)
            elif (command, arguments) == ("J", "2"):
                self.cells = [[" "] * self.width for _ in range(self.height)]
            else:
                assert (command, arguments) in (("l", "?25"), ("h", "?25"))

    def _print(self, character: str) -> None:
        assert unicodedata.category(character) != "Cc", "no control character moves this screen"
        taken = width(character)
        row = self.cells[self.row]
        if taken == 0:
            before = self.column - (2 if row[self.column - 1] == "" else 1)
            row[before] += character
            return
        assert self.column + taken <= self.width, "nothing is written beyond the edge"
        row[self.column : self.column + taken] = [character, ""][:taken]
        self.styles[self.row][self.column : self.column + taken] = [self.style] * taken
        self.column += taken

    def lines(self, left: int = 0, right: int | None = None) -> list[str]:
        """The rows between two columns, without the blanks at their ends."""
        return ["".join(row[left:right]).rstrip() for row in self.cells]

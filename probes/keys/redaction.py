"""Finds a key, or parts of it, in a text, in the spellings that providers echo keys in; pure.

Providers echo keys whole, cut, masked (``sk-…Ab3x``), reversed, in base64 or percent-encoded. Found are every run of
`RUN` or more characters of the key beyond its public prefix, and every end of `END` or more beside an ellipsis, a star
or a dot, or where the text is cut; forward, reversed and in base64 (any alignment, both alphabets), runs in hex too;
whatever the case; also percent-encoded, as escapes of HTML and JSON, and with invisible characters between. What else
a provider may do to spell a key (blanks between the letters, another cipher) is not found.

A key that is no random string ("ollama", "test-key-123456") has words in it, and its parts stand in ordinary texts: of
one with fewer than `RANDOM` characters that are neither words nor counted up, only the whole is found, and its ends.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

RUN: Final = 6
"""Characters of the shortest part of a random key that is found wherever it stands."""

END: Final = 4
"""Characters of the shortest end of a key that is found, beside a mask."""

RANDOM: Final = 12
"""Characters that are neither words nor counted up, from which on a key is taken for a random string."""

RUN_IN_BASE64: Final = 7
"""Characters of base64 that `RUN` characters decide, wherever they stand."""

REPLACEMENT: Final = "[key]"
"""Put in place of what gives a key away."""

PREFIX: Final = re.compile(
    r"sk-ant-(?:[a-z]+[0-9]{2}-)?|sk-(?:proj|svcacct|admin|or-v1)-|sk[-_]|rk-|csk-|gsk_|xai-|hf_|r8_|fw_|tgp_(?:v1_)?"
    r"|pplx-|nvapi-|AIza|ghp_"
)
"""What all keys of a provider begin with: known to everybody, and so no secret."""

_COMMON: Final = (
    "01234567890",
    "09876543210",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    *(64 * one for one in "x0*"),
)
"""Parts of these are no secret: a person who needed a made-up key typed them."""

_WORDS: Final = re.compile(
    r"(?:(?:[A-Z]?[a-z]{3,14}|[A-Z]{3,14})[^A-Za-z0-9]+)*(?:[A-Z]?[a-z]{3,14}|[A-Z]{3,14})(?![A-Za-z0-9])"
)
"""The words that a key begins with, if it does; with all hexadecimal digits they might be none."""

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What Unicode calls default ignorable, and the marks of interlinear notes: nothing is drawn for them."""

_ESCAPING: Final = re.compile(rf"[%&\\{_INVISIBLE}]")
_ESCAPE: Final = re.compile(
    r"(?:%|\\x|\\u00)([0-9a-f]{2})|&#x0*([0-9a-f]{1,4});|&#0*([0-9]{1,4});|[" + _INVISIBLE + "]", re.IGNORECASE
)
_NESTED: Final = 3
"""How many times in a row a text is unescaped: a URL may hold a URL."""

_MASK: Final = re.compile(r"[…*•]+|\.+")
_HEX: Final = re.compile("[0-9A-Fa-f]+")
_URL_SAFE: Final = str.maketrans("+/", "-_")
_LONGEST_END: Final = 64
_REACH: Final = 64
"""Characters that a run of `RUN` less one may be written with, escaped."""

Span = tuple[int, int]
"""The first character of a part of a text, and the one after its last."""


@dataclass(frozen=True, slots=True)
class _Runs:
    """Finds runs of ``size`` or more characters of some strings, upper and lower case alike.

    ``secret_runs`` are the runs that give something away, ``runs`` all of them: a match is extended by these. To look
    at every place of a long text would take too long. Every run contains ``stem`` characters (two thirds of ``size``)
    that begin at a multiple of ``stride``, so only those places are looked up, among ``stems``.
    """

    size: int
    runs: frozenset[str]
    secret_runs: frozenset[str]
    stems: frozenset[str]
    stem: int
    stride: int

    @classmethod
    def of(cls, strings: Iterable[str], size: int, words: Iterable[str] = ()) -> "_Runs":
        """The runs of these strings; those that lie within one of the ``words`` are not secret."""
        runs = frozenset(part for one in strings for part in _parts(one.lower(), size))
        secret_runs = runs - {part for one in words for part in _parts(one.lower(), size)}
        stem = size - size // 3
        stems = frozenset(part for one in secret_runs for part in _parts(one, stem))
        return cls(size, runs, secret_runs, stems, stem, size - stem + 1)

    def spans(self, folded: str) -> Iterator[Span]:
        """The places of secret runs, each as long as it goes on, in a text in lower case; they may overlap."""
        size, runs, secret_runs, stems, stem, seen = self.size, self.runs, self.secret_runs, self.stems, self.stem, 0
        for place in [at for at in range(0, len(folded), self.stride) if folded[at : at + stem] in stems]:
            seen = max(seen, place - self.stride + 1)
            while seen <= place:
                if folded[seen : seen + size] in secret_runs:
                    start = seen
                    while start and folded[start - 1 : start - 1 + size] in runs:
                        start -= 1
                    while folded[seen + 1 : seen + 1 + size] in runs:
                        seen += 1
                    yield start, seen + size
                seen += 1


class _Ends:
    """Finds ends of a key beside a mask: an ellipsis, stars, dots, or the end of the text.

    ``before`` are those that may stand before one, ``after`` those after. Beside a lone dot, which ends sentences, they
    are looked for only if ``dots``, and in their own case.
    """

    def __init__(self, before: Iterable[str], after: Iterable[str], *, dots: bool) -> None:
        self._before: dict[str, list[str]] = {}
        self._after: dict[str, list[str]] = {}
        self._dots = dots
        for one in sorted(set(before), key=len, reverse=True):
            self._before.setdefault(one[-END:].lower(), []).append(one)
        for one in sorted(set(after), key=len, reverse=True):
            self._after.setdefault(one[:END].lower(), []).append(one)

    def spans(self, text: str, folded: str, edges: Collection[int]) -> Iterator[Span]:
        """The places of ends in a text, given in lower case too: each a word by itself, or up to an edge."""
        for start, stop in [*(one.span() for one in _MASK.finditer(text)), (len(text), len(text))]:
            exact = text[start:stop] == "."
            if exact and not self._dots:
                continue
            for end in self._before.get(folded[max(0, start - END) : start], ()):
                at = start - len(end)
                if (
                    at >= 0
                    and _same(end, text[at:start], exact)
                    and (at in edges or not text[max(0, at - 1) : at].isalnum())
                ):
                    yield at, start
                    break
            for end in self._after.get(folded[stop : stop + END], ()):
                at = stop + len(end)
                if _same(end, text[stop:at], exact) and (at in edges or not text[at : at + 1].isalnum()):
                    yield stop, at
                    break


class Redaction:
    """Finds one key, and its parts, in any number of texts.

    ``whole``: the value is no key; it is found only whole, as a word or words by itself.
    """

    def __init__(self, key: str, *, whole: bool = False) -> None:
        prefix = None if whole else PREFIX.match(key)
        self._prefix = prefix[0] if prefix else ""
        self._whole = whole
        nothing = _Ends((), (), dots=False)
        self._runs, self._ends = ([_Runs.of([key], len(key))], nothing) if whole else _finders(key, self._prefix)
        self._plain_reach = max(END, *(one.size for one in self._runs), 0) + len(self._prefix)
        self.reach = max(_REACH, self._plain_reach)
        """How many characters before a text may belong to a part of the key that ends in it, escaped or not."""

    def hide(self, text: str) -> str:
        """``text`` with `REPLACEMENT` for all that gives the key away."""
        return _replaced(text, self.spans(text))

    def spans(self, text: str) -> list[Span]:
        """The places of ``text`` that give the key away, in order and apart from each other."""
        found = self._found(text)
        view = text
        for depth in range(1, _NESTED + 1):
            if not _ESCAPING.search(view) or (plainer := _ESCAPE.sub(_character, view)) == view:
                break
            view = plainer
            if hits := self._found(view):
                origins = _origins(text, depth)
                found += [(origins[start], origins[stop]) for start, stop in hits]
        return _joined(found)

    def spans_after(self, before: str, text: str) -> list[Span]:
        """The places of ``text``, counted from its beginning; they may have begun in ``before``, which came before."""
        escaped = _ESCAPING.search(before) or _ESCAPING.search(text)
        near = before[-(self.reach if escaped else self._plain_reach) :]
        found = self.spans(near + text)
        return [(start - len(near), stop - len(near)) for start, stop in found if stop > len(near)]

    def _found(self, text: str) -> list[Span]:
        """The places in a text as it is written, without unescaping; with the public prefix, where it stands before."""
        folded = _folded(text)
        found = [one for runs in self._runs for one in runs.spans(folded)]
        edges = {edge for span in found for edge in span}
        found += self._ends.spans(text, folded, edges)
        if self._whole:
            return [(start, stop) for start, stop in found if _stands_alone(text, start, stop)]
        prefix = self._prefix.lower()
        return [(start - len(prefix) if folded.endswith(prefix, 0, start) else start, stop) for start, stop in found]


class Redactions:
    """Finds any of several keys; as `Redaction` does with one."""

    def __init__(self, each: Sequence[Redaction]) -> None:
        self._each = tuple(each)
        self.reach = max((one.reach for one in each), default=_REACH)

    def hide(self, text: str) -> str:
        """``text`` with `REPLACEMENT` for all that gives one of the keys away."""
        return _replaced(text, _joined(span for one in self._each for span in one.spans(text)))

    def spans_after(self, before: str, text: str) -> list[Span]:
        """The places of ``text``, counted from its beginning; they may have begun in ``before``, which came before."""
        return _joined(span for one in self._each for span in one.spans_after(before, text))


def _replaced(text: str, spans: Iterable[Span]) -> str:
    shown, place = [], 0
    for start, stop in spans:
        shown += [text[place:start], REPLACEMENT]
        place = stop
    return "".join([*shown, text[place:]]) if shown else text


def _stands_alone(text: str, start: int, stop: int) -> bool:
    """Whether that part of the text is not part of a longer word."""
    return not (text[max(0, start - 1) : start].isalnum() or text[stop : stop + 1].isalnum())


def _finders(key: str, prefix: str) -> tuple[list[_Runs], _Ends]:
    """The searches for the parts of a random key, or for the whole of a key that is not random."""
    secret = key[len(prefix) :]
    words = _words(secret)
    common = (*_COMMON, words, words[::-1])
    if len(_Runs.of([secret], RUN, common).secret_runs) > RANDOM - RUN:
        plain = _Runs.of([secret, secret[::-1]], RUN, common)
        ends = _ends(prefix, secret)
        encoded = _Runs.of(_in_base64(secret), RUN_IN_BASE64), _Runs.of([secret.encode().hex()], 2 * RUN)
        return [plain, *encoded], _Ends(ends, ends, dots=True)
    whole = [key, secret, *(spelt for one in (key, secret) for spelt in (one[::-1], *_in_base64(one)))]
    found = [_Runs.of([one], len(one)) for one in dict.fromkeys(whole) if len(one) >= RUN or one == key != ""]
    lengths = list(range(END, min(len(key), _LONGEST_END)))
    # an end that is a word is one of a text rather than of the key, unless the key is nothing else
    begun = [key[:length] for length in lengths if key.isalpha() or not key[:length].isalpha()]
    return found, _Ends(begun, [key[-length:] for length in lengths], dots=False)


def _words(secret: str) -> str:
    """The words that a key begins with; hexadecimal digits that look like some are none."""
    found = _WORDS.match(secret)
    return found[0] if found and not _HEX.fullmatch(found[0]) else ""


def _ends(prefix: str, secret: str) -> list[str]:
    """The ends of a key, of `END` to `RUN` - 1 characters, with and without its public prefix; longer are runs."""
    encoded, whole = (b64encode(one.encode()).decode().rstrip("=") for one in (secret, prefix + secret))
    short = [end for one in (secret, encoded) for n in range(END, RUN) for end in (one[:n], one[-n:])]
    short += [whole[-n:] for n in range(END, RUN)]
    short += [one for n in range(1, RUN) if len(one := prefix + secret[:n]) >= END]
    return [spelt for one in short for spelt in (one, one[::-1])]


def _in_base64(text: str) -> list[str]:
    """What of ``text`` stands in the base64 of any text that holds it: at each alignment, in both alphabets."""
    found = []
    for before, skipped in ((0, 0), (1, 2), (2, 3)):  # bytes before it, and the characters that depend on them
        data = b"\0" * before + text.encode()
        plain = b64encode(data).decode()[skipped : len(data) * 8 // 6]
        found += [plain, plain.translate(_URL_SAFE)]
    return found


def _parts(text: str, size: int) -> Iterator[str]:
    """All runs of ``size`` characters of a text."""
    return (text[start : start + size] for start in range(len(text) - size + 1))


def _folded(text: str) -> str:
    """``text`` in lower case, each character in its place."""
    folded = text.lower()
    return folded if len(folded) == len(text) else "".join(one.lower()[:1] for one in text)


def _same(end: str, text: str, exact: bool) -> bool:
    return text == end if exact else text.lower() == end.lower()


def _character(escape: re.Match[str]) -> str:
    """The character that an escape stands for."""
    if digits := escape[1] or escape[2]:
        return chr(int(digits, 16))
    return chr(int(escape[3])) if escape[3] else ""


def _origins(text: str, depth: int) -> list[int]:
    """For each character of ``text`` unescaped ``depth`` times, its place in ``text``; the last entry is the end."""
    origins, view = list(range(len(text) + 1)), text
    for _ in range(depth):
        known, place = [], 0
        for escape in _ESCAPE.finditer(view):
            known += origins[place : escape.start()]
            known += origins[escape.start() : escape.start() + len(_character(escape))]
            place = escape.end()
        origins, view = known + origins[place:], _ESCAPE.sub(_character, view)
    return origins


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The same places in order, those that touch made one."""
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined

"""JSON of frozen values and back, by msgspec: what comes back is of the types that were asked for."""

import json
from typing import Any, Final, TypeVar

from msgspec import DecodeError, ValidationError, convert, to_builtins
from msgspec.json import Decoder, Encoder

T = TypeVar("T")

_ENCODER: Final = Encoder()


def encode(value: Any) -> bytes:
    """Compact JSON in UTF-8, without line feeds. A number that is not finite becomes null."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:  # the path of a file may hold lone surrogates, which JSON has only as escapes
        return json.dumps(to_builtins(value), separators=(",", ":")).encode()


def decode(text: bytes | str, decoder: Decoder[T]) -> T:
    """The value that a JSON text holds.

    Raises ValueError where it holds none of the decoder's type: a number that is not finite, or what is nested too
    deeply, is none of any. Lone surrogates are read too, as the standard library does.
    """
    try:
        return decoder.decode(text)
    except ValidationError:
        raise
    except DecodeError:
        return _with_surrogates(text, decoder)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _with_surrogates(text: bytes | str, decoder: Decoder[T]) -> T:
    """As `decode`, where msgspec finds no JSON: its texts hold no lone surrogates."""
    try:
        record = json.loads(text)
        json.dumps(record, allow_nan=False)  # raises ValueError for what is not finite
        return convert(record, decoder.type)
    except RecursionError:
        raise ValueError("nested too deeply") from None

"""Encodes frozen values as JSON and decodes them by msgspec, which checks every value's type."""

import json
import os
from typing import Any, Final, TypeVar

from msgspec import DecodeError, convert, to_builtins
from msgspec.json import Decoder, Encoder

T = TypeVar("T")

_ENCODER: Final = Encoder(enc_hook=os.fspath)


def encode(value: Any) -> bytes:
    """Compact JSON in UTF-8, without line feeds. A number that is not finite becomes null, a path its text."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:  # the path of a file may hold lone surrogates, which JSON has only as escapes
        record = json.loads(json.dumps(to_builtins(value, enc_hook=os.fspath)), parse_constant=lambda _: None)
        return json.dumps(record, separators=(",", ":")).encode()


def decode(text: bytes | str, decoder: Decoder[T]) -> T:
    """The value of the decoder's type that a JSON text holds; its strings may have lone surrogates.

    Raises ValueError where it holds none, or a number that is not finite, or is nested too deeply.
    """
    try:
        return decoder.decode(text)
    except DecodeError:
        return _with_surrogates(text, decoder)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def loads(text: str | bytes) -> Any:
    """The same as ``json.loads``, for a text of any origin: ValueError also where it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _with_surrogates(text: bytes | str, decoder: Decoder[T]) -> T:
    """The value of a text that msgspec refused, perhaps only for lone surrogates. Raises ValueError."""
    try:
        record = loads(text)
        json.dumps(record, allow_nan=False)  # raises ValueError for a number that is not finite
        return convert(record, decoder.type, dec_hook=decoder.dec_hook)
    except RecursionError:
        raise ValueError("nested too deeply") from None

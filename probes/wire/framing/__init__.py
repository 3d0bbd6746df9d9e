"""Framing: bytes in, records out, for every framing that providers stream in; pure."""

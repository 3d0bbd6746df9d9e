"""Sockets: bytes in and out, each read stamped with when its data reached this machine."""

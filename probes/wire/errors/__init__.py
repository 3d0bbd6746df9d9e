"""Errors on the wire: what a provider's error means, as a whole response or inside a stream; pure."""

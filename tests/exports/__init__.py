"""Exports: columns, zones, formats, and what other programs read back."""

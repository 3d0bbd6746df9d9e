"""Exports of a race: its samples, its events, or a film of it; each an iterator of text, made as it is written."""

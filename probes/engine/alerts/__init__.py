"""Alerts while an engine runs: its samples are judged, incidents kept, and what is due put where it is delivered."""

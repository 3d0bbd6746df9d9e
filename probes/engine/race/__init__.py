"""Races as the engine runs them: starts the lanes of every heat together and reports how they stand."""

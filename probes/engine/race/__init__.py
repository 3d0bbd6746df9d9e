"""Races as the engine runs them: the lanes of every heat started together, and their news."""

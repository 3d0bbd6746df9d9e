"""Faults: what can go wrong with a simulated answer, and how each provider words an error."""

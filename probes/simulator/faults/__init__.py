"""Faults: what can go wrong with a simulated answer, and the shapes in which each provider sends an error."""

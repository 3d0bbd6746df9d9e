"""Diagnosis: whether the network is reachable, and to whom a failure is attributed."""

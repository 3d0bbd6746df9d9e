"""Answers from a store, within a tenth of a second: who is best of a group now, and how everything is."""

"""Measure: one probe from its prompt to exactly one sample, whatever happens."""

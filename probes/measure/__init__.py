"""One probe from its prompt to exactly one sample, whatever happens: read `probe`, then `exchange`, `build_sample`."""

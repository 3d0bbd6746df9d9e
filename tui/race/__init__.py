"""The race page: choose a race, watch it, see its results, replay it."""

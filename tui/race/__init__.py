"""The race page: choose a race, watch it, know who won, replay it."""

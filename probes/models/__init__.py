"""Models: what a provider says it serves, read from its list of models, and what changed in that list."""

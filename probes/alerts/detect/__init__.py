"""Judges each endpoint by its samples: what is usual of it, when it is slow, failing or down; pure."""

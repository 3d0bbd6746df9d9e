"""Writing a store: samples queued, kept on disk while it cannot take them, committed; one recorder at a time."""

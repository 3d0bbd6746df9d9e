"""The store: every sample kept. `read` needs no SQLAlchemy; `write` does."""

"""Several recorders of one vantage in a PostgreSQL store: who measures which endpoint, and who may spend what."""

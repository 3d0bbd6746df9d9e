"""Reading a store: the questions of panels, budget and exports, of SQLite or PostgreSQL, without SQLAlchemy."""

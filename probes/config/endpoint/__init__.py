"""One `[[endpoint]]` table, read: its place and model, keys, request and route."""

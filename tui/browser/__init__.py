"""The dashboard in a browser, for whom it is safe: one token, one origin, only to look."""

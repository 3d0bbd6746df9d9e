"""Sources: where the screen's messages come from: our engine, another recorder, or a store alone."""

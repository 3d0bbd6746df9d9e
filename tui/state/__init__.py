"""State: what the screen knows, from messages and the store to one frozen picture a tick."""

"""Tells people: messages are taken out of the store's outbox and delivered, at least once and in order."""

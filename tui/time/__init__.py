"""Time: which period a screen shows, and the store's answers about it."""

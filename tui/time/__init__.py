"""Time: which period a screen shows, its slices, and the query that asks the store about it."""

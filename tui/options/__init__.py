"""The options page: what of the screen can be chosen, what it is now, and where that is kept or fixed."""

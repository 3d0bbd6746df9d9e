"""Keys: what a key is, the verbs that all pages share, and the order in which typed keys act."""

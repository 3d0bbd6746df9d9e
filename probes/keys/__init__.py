"""Keys: secrets that never print themselves, where they are found, and how they are kept out of texts."""

"""The page of API keys: which there are, where each was found, who uses it; to set, test and delete them."""

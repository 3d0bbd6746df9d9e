"""Adding endpoints on the screen: a provider or an address, its key, its models, a trial probe, the file written."""

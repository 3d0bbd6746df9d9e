"""Reports: one HTML page of a store, without a request to anywhere, and the public status page made of it."""

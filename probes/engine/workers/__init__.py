"""Workers: processes that probe for one engine, each its share of the endpoints."""

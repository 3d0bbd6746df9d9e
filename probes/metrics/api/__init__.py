"""The HTTP API beside the metrics: read-only JSON of what the store knows, for those who may ask."""

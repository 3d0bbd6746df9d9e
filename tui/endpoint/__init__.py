"""The endpoint page: one endpoint over any stretch of time."""

"""The form of one endpoint: what of it can be changed, what that comes to, and how it gets into the configuration."""

"""Real gateways and proxies in front of the simulator: what people run inference behind, as they configure it."""

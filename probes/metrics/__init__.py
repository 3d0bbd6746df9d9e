"""Metrics: what a recorder tells Prometheus and OpenTelemetry of its samples and of itself."""

"""Metrics: publishes a recorder's samples and state to Prometheus and OpenTelemetry."""

"""What samples come to: states by each endpoint's own baseline, and incidents, one for a cause; pure."""

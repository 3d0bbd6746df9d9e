"""The demo: simulated models of many providers, and the endpoints that probe them."""

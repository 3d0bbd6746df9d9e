"""The demo: simulated providers and the endpoints that watch them."""

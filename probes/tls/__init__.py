"""TLS: which certificates a connection trusts and shows, one session without a socket, and why a session failed."""

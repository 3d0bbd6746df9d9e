"""TLS: whom a connection trusts, one session without a socket, and its failures in words."""

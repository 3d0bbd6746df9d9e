"""A recorder among others of its vantage: it probes what it has the leases of, by its part of the budget."""

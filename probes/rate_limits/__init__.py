"""Rate limits: what headers say of them, which bucket refused a request, and how long to wait; pure."""

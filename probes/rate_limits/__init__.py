"""Rate limits: those in a response's headers, which of them refused a request, and how long to wait for it; pure."""

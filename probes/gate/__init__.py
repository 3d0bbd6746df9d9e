"""Gates: whether an endpoint is worse than another, than its own past or than a limit, and how sure that is; pure."""

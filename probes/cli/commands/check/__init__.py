"""`inftop check`: what the configuration means, and what is wrong with it."""

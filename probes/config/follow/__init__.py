"""Following a configuration file while inftop runs: noticing a change, reading it, and saying what differs."""

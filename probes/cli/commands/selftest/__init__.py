"""`inftop selftest`: whether what is measured on this machine is right."""

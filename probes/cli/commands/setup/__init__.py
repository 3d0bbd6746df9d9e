"""Commands that set inftop up: the configuration, keys, providers and their models, what this machine offers."""

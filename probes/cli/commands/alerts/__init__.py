"""The work of ``inftop alerts`` and ``inftop incident``."""

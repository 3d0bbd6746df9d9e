"""Providers' public status pages: what is posted on them, asked for without any key."""

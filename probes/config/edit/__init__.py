"""Changes a configuration file as a person would: one place is edited, every other byte of the text stays as it was."""

"""The headless commands, one file each, loaded when they are used."""

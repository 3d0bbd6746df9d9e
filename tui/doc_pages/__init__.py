"""The pages of the documentation that are made of the program: its commands, its keys, its manual page."""

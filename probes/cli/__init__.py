"""The command line without a screen."""

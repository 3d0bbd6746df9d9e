"""Configuration: the file read strictly into endpoints, with every mistake named; and the provider presets."""

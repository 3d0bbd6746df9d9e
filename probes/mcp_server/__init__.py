"""The server of the Model Context Protocol, by which agents ask what the store knows."""

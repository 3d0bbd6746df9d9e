"""Commands that answer before the command line's parser is imported: of a prompt, a status bar or a router."""

"""Tests of commands that answer before the parser is imported."""

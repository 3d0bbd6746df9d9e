"""Tests of the options page."""

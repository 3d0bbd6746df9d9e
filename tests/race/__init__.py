"""Tests of races: what they are made of, run, kept and shared."""

"""Tests of answers from a store."""

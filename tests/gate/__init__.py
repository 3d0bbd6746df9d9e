"""Tests of what a gate decides."""

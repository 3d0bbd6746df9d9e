"""Tests of delivery: channels, the faults of those who are told, and the notifier."""

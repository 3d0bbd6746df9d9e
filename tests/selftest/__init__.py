"""Tests of the selftest: the comparison as pure functions, the certificate, and whole runs, short."""

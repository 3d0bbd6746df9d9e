"""Selftest: inftop's own error, measured on this machine with the real engine and the real screen."""

"""Endpoints as other tools' configurations have them, read into values of our own; nothing is read or written here."""

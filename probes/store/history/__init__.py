"""The history as a whole: checked, copied, merged, rebuilt, shrunk."""

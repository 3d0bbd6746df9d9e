"""Widgets: drawing parts that know nothing of endpoints: charts, sparklines, rows, lines of input and of keys."""

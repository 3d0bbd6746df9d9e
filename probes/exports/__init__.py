"""Exports: what a store holds as CSV, JSON lines or Parquet, however much, in constant memory.

`export` is the way in: `selection` says what, `columns` which columns, one file per format how it is written.
"""

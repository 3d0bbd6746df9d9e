"""Exports of a store as CSV, JSON lines or Parquet, in constant memory however large.

`request` reads what a command line asks for, `selection` says which rows, `columns` which columns; `samples` and
`rollups` read them, `export` writes them, and each format has a module of its own. Exports of a race are in `race`.
"""

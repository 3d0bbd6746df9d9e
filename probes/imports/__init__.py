"""Files of samples read strictly: what an export wrote, and the results of aiperf and guidellm.

`file` opens a file, finds its format and gives its samples; each format has a module of its own, `checks` says what
every column may hold, `needed` which columns a file must have. What writes is `probes.store.history.importing`.
"""

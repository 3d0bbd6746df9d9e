"""Makes one incident of all that has one cause: judgements of all vantages in, changes and what is due out; pure."""

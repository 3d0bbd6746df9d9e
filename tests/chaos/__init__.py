"""The chaos suite: faults as data, each made for real, and what must and must not come of it."""

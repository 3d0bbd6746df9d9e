"""Answers: what a reader of `tui.time.store_query` gives, in a list, the rough ones first."""

from tui.time.store_query import advance


def answers(reading):
    found, is_final = [], False
    while not is_final:
        answer, is_final = advance(reading)
        found.append(answer)
    return found

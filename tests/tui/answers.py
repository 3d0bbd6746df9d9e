"""All answers of a reader for `tui.time.store_query` in a list, the preliminary ones first; for tests."""

from tui.time.store_query import advance


def answers(reading):
    found, is_final = [], False
    while not is_final:
        answer, is_final = advance(reading)
        found.append(answer)
    return found

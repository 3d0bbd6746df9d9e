"""The ticker: soon after something came, never sooner than it has rested, else at each whole second."""

from tui.time.ticker import Ticker


class Loop:
    """A loop whose time stands still until `go`; it keeps at most one timer of a ticker."""

    def __init__(self):
        self.at, self.due = 100.0, []

    def time(self):
        return self.at

    def call_at(self, when, run):
        timer = Timer(self, when, run)
        self.due.append(timer)
        return timer

    def go(self, seconds):
        """Let so much time pass, and run what is due."""
        until = self.at + seconds
        while self.due and min(one.when() for one in self.due) <= until:
            one = min(self.due, key=Timer.when)
            self.due.remove(one)
            self.at = one.when()
            one.run()
        self.at = until


class Timer:
    def __init__(self, loop, at, run):
        self.loop, self.at, self.run = loop, at, run

    def when(self):
        return self.at

    def cancel(self):
        self.loop.due.remove(self)


def ticking(monkeypatch, rest_s=0.5):
    """A loop, a ticker on it at 0.3 s past a second, and when it has ticked."""
    loop, ticked = Loop(), []
    monkeypatch.setattr("tui.time.ticker.asyncio.get_running_loop", lambda: loop)
    ticker = Ticker(lambda: ticked.append(round(loop.at - 100, 3)), lambda: round((loop.at + 0.3) * 1000), rest_s)
    return loop, ticker, ticked


def test_while_nothing_comes_it_ticks_at_each_whole_second(monkeypatch):
    loop, ticker, ticked = ticking(monkeypatch)
    ticker.start()
    loop.go(3)
    assert ticked == [0.7, 1.7, 2.7]
    assert len(loop.due) == 1


def test_what_comes_after_a_pause_is_drawn_at_once_and_what_follows_when_it_has_rested(monkeypatch):
    loop, ticker, ticked = ticking(monkeypatch, rest_s=0.2)
    ticker.start()
    loop.go(0.1)
    for _ in range(5):
        ticker.wake()
        loop.go(0.05)
    assert ticked == [0.1, 0.3]
    loop.go(1.0)
    assert ticked == [0.1, 0.3, 0.7]


def test_a_long_rest_holds_the_next_second_back_too(monkeypatch):
    loop, ticker, ticked = ticking(monkeypatch, rest_s=3600.0)
    ticker.start()
    ticker.wake()
    ticker.wake()
    loop.go(3599)
    assert ticked == [0.0]


def test_before_it_begins_and_after_it_was_stopped_nothing_ticks(monkeypatch):
    loop, ticker, ticked = ticking(monkeypatch)
    ticker.wake()
    loop.go(2)
    ticker.start()
    ticker.stop()
    ticker.wake()
    loop.go(2)
    assert (ticked, loop.due) == ([], [])

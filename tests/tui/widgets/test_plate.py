"""A plate's rows at its edge."""

import pytest
from textual.app import App

from tui.widgets.plate import Plate


class Plated(App):
    def compose(self):
        yield Plate()


@pytest.mark.parametrize(
    ("text", "shown"),
    [("twelve cells", "twelve cells"), ("thirteen is m", "thirteen is…"), ("blanks after   ", "blanks after")],
)
async def test_what_is_cut_at_the_edge_says_so(text, shown):
    app = Plated()
    async with app.run_test(size=(12, 1)):
        plate = app.query_one(Plate)
        plate.draw([((text[:4], "figure"), (text[4:], "label"))])
        assert plate.render_line(0).text == shown

"""PlainLines: painting of a line-API widget without what Textual does for borders and padding."""

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class PlainLines(Widget):
    """A widget whose `render_line` gives whole lines, as wide as all of it; a scrollbar is drawn over their end.

    Textual puts a border, padding and outline around each line that changed, piece by piece: for lines of a hundred
    pieces that is more work than to make them. A widget that has any of these is painted by Textual as usual.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region."""
        if self.styles.gutter:
            return super().render_lines(crop)
        width = self.outer_size.width
        strips = [self.render_line(y) for y in crop.line_range]
        for one in self.get_line_filters():
            background = self.background_colors[1]
            strips = [strip.apply_filter(one, background) for strip in strips]
        if crop.column_span == (0, width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

"""The canvas that draws on this machine: plotext's where that can be imported, else our own."""

from tui.widgets.charts.canvas import Canvas


def load_canvas() -> Canvas:
    """plotext's, or our own where plotext cannot be imported; importing it takes 0.2 s the first time.

    plotext 6 is compiled, and has no wheel for musl (Alpine Linux) and Windows on ARM; plotext 5, which has one for
    everything, lacks what `PlotextCanvas` imports.
    """
    try:
        from tui.widgets.charts.plotext_canvas import PlotextCanvas
    except ImportError:
        from tui.widgets.charts.braille_canvas import BrailleCanvas

        return BrailleCanvas()
    return PlotextCanvas()

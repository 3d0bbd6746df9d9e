"""Charts: lines over time with axes and a crosshair."""

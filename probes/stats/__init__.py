"""Statistics: quantiles, sketches that add up, rollups, and how sure a figure is; pure."""

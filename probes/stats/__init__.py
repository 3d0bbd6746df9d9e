"""Statistics: quantiles, sketches and rollups that add up, time ranges, and confidence intervals; pure."""

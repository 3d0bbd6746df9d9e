"""What the screen knows of the past: samples and rollups read from the store, and their figures."""

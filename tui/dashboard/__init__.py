"""The dashboard: every endpoint as a row, large panels, and the details of the one selected."""

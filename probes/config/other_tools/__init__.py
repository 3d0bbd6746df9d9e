"""Configurations of other tools: where they usually lie, and what their entries come to as endpoints of ours."""

"""Figures: from the instants and events of one response to the numbers of its sample; pure."""

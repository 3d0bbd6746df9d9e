"""The group view: endpoints that serve the same model, ranked side by side."""

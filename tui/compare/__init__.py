"""The compare page: up to six endpoints, or one from several places, on one chart and in one ranked table."""

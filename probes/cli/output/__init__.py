"""What commands print: samples, rankings and races as lines of text, progress, the state of the store."""

"""Feed: what engine and screen say to each other, as frozen values and as lines through a pipe."""

"""The track of a race: all lanes on one axis of time, as tracks and as a curve of tokens; and the score of heats."""

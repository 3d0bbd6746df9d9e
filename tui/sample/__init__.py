"""The sample page: where the time of one probe went, in bars, words and raw facts."""

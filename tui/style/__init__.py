"""Style: numbers as text, colours and glyphs, themes."""

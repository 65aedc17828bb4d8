"""Pages about findings and counters: their names, their files, and their text in a terminal."""

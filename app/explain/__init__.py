"""Pages about findings and counters: their names, files, and text for a terminal."""

"""One view, one file: each draws the moment that the playhead names."""

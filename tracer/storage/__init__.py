"""Files on disk: written whole or not at all, checked when read. What they mean is decided elsewhere."""

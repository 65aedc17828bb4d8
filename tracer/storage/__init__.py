"""Files on disk: written atomically and checked when read. Other packages decide on their meaning."""

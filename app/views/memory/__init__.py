"""The memory view: buffers as cells, and what a moment reads and writes; where they stand is for layout."""

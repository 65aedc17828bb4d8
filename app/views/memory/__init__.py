"""The memory view: buffers as cells, what a moment reads and writes in them."""

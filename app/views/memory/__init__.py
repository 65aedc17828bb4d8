"""The memory view: buffers as cells, with the reads and writes of a moment; `layout` positions the buffers."""

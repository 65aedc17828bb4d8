"""The race detector: which accesses nothing orders. How a race is reported and mended is for findings."""

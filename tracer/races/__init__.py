"""The race detector: which accesses nothing orders. How a race is told and mended is for findings."""

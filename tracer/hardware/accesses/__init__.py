"""Each access of a small launch as a GPU made it: kernels that note theirs, and the traces that come of it."""

"""The accesses of a small launch as a GPU makes them: kernels that note them, and traces of these notes."""

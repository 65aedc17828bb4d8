"""The simulator engine: Numba's CUDA simulator with our threads and recording arrays."""

"""The engine of Numba's CUDA simulator, with our threads and arrays; what it records is for recording."""

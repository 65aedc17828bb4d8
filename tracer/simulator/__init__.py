"""The engine that runs kernels in Numba's CUDA simulator, with our threads and arrays in the place of its own."""

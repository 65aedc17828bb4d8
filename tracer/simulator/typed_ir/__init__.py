"""Converts Numba's typed IR of a kernel to a Python function with the same results."""

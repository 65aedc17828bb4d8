"""Numba's typed IR of a kernel as a Python function that computes as the IR says."""

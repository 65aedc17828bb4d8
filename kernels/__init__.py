"""Numba kernels as they stand on a slide, by names that saved traces know; what describes them is in scenarios."""

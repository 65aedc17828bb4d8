"""Numba kernels as they stand on a slide, and the catalogue that describes them."""

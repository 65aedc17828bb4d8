"""Numba kernels as they stand on a slide, by names that saved traces use; scenarios describe them."""

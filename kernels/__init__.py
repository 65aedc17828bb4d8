"""Numba kernels as they stand on a slide, and programs beside them; their dotted names are in saved traces."""

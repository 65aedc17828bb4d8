"""Rewrite a kernel's source into a function that records its accesses. Nothing here depends on Numba's types."""

"""The compiled engine: a kernel rewritten to a Numba CPU generator that records its accesses."""

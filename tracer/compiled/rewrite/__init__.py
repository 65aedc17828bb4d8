"""From a kernel's source to that of a function that records its accesses. Nothing here knows Numba's types."""

"""The process that asks Numba's compiler what it makes of kernels, and its client. What it means is for findings."""

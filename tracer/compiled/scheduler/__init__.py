"""Whose turn it is: CUDA threads on stacks of their own, compiled once for all kernels."""

"""The scheduler of CUDA threads: each has a separate stack. It is compiled once for all kernels."""

"""The process that compiles kernels with Numba to learn their types and errors, and its client."""

"""Compilation of a kernel: Numba's IR, LLVM's optimised IR, PTX, and a GPU's code."""

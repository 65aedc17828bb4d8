"""What compilers make of a kernel: Numba's IR, LLVM's optimised IR, PTX, a GPU's code."""

"""What rewritten kernels call: Numba types and intrinsics for arrays, atomics and barriers."""

"""What rewritten kernels call, Numba types and intrinsics; how they are rewritten is for rewrite."""

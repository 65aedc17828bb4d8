"""The functions that rewritten kernels call, as Numba types and intrinsics; `rewrite` inserts the calls."""

"""The process that asks Numba's compiler for types, and its client. What the answer means is for findings."""

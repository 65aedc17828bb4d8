"""Arithmetic as NVIDIA's compiler and its math library do it, for this computer."""

"""Arithmetic as Numba types it: a kernel's source to that of one whose operations give what a GPU gives."""

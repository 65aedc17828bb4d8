"""Arithmetic with Numba's types and a GPU's results: conversions, operators and functions of numbers."""

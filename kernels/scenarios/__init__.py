"""Kernels as lessons: their descriptions, and the catalogue. The kernels are one folder up."""

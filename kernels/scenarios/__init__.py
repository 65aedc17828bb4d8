"""Kernels as lessons: what describes them, and the catalogue of all. The kernels themselves stand one folder up."""

"""Kernels with marks that read a GPU's clocks: rewriting, launching, and reading back as timelines."""

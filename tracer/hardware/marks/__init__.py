"""Kernels with marks that read a GPU's clocks: rewritten, launched, and read back as timelines."""

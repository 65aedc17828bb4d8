"""Tilescope shows what a CUDA kernel does to memory."""

__version__ = "0.1.0"

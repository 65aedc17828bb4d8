"""Tilescope shows what a CUDA kernel does to memory."""

from pathlib import Path

__version__ = "0.1.0"
ROOT = Path(__file__).resolve().parent  # the folder of the package

"""Resolves the file of a kernel in CUDA C++."""

from __future__ import annotations

from pathlib import Path

from ... import ROOT

OWN = "tilescope."  # begins the names of the package's own files


def cuda_cpp_file(holder: str) -> Path:
    """Return the file of a kernel: its path, or one of this package, as `tilescope.kernels.cuda_c.matmul_naive.cu`."""
    stem, _, suffix = holder.rpartition(".")
    parts = stem.removeprefix(OWN).split(".")
    if holder.startswith(OWN) and all(part.isidentifier() for part in parts):
        return ROOT.joinpath(*parts).with_suffix(f".{suffix}")
    return Path(holder)

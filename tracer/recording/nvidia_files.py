"""Find NVIDIA's compiler files: libdevice, libNVVM, ptxas, nvdisasm. All are optional (extra `nvidia`).

The search is NVIDIA's own (`cuda.pathfinder`, a dependency of numba-cuda): wheels, conda, then CUDA_PATH or CUDA_HOME.
Every function returns None where a file is missing. Results are cached for the life of the process.
"""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def libdevice() -> Path | None:
    """Find libdevice.10.bc, the bitcode of the GPU's math functions."""
    pathfinder = _pathfinder()
    if pathfinder is None or not hasattr(pathfinder, "locate_bitcode_lib"):  # before pathfinder 1.4
        return None
    try:
        return _existing(pathfinder.locate_bitcode_lib("device").abs_path)
    except Exception:  # noqa: BLE001  # it raises several classes, none of them public in all versions
        return None


@cache
def libdevice_digest() -> str:
    """Return the SHA-256 of libdevice, "" if it is missing: releases compute some functions differently."""
    path = libdevice()
    return "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def libnvvm() -> Path | None:
    """Find the shared library of NVIDIA's compiler from NVVM IR to PTX. Loads it into the process."""
    pathfinder = _pathfinder()
    if pathfinder is None:
        return None
    try:
        return _existing(pathfinder.load_nvidia_dynamic_lib("nvvm").abs_path)
    except Exception:  # noqa: BLE001  # as above, and OSError for a damaged library
        return None


@cache
def ptxas() -> Path | None:
    """Find the assembler from PTX to a GPU's code."""
    return _program("ptxas")


@cache
def nvdisasm() -> Path | None:
    """Find the disassembler of a GPU's code."""
    return _program("nvdisasm")


@cache
def ptxas_version() -> str:
    """Return the version of ptxas, such as "13.0"; "" if it is missing or does not run."""
    path = ptxas()
    if path is None:
        return ""
    try:
        text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return text.partition("release ")[2].partition(",")[0].strip()


def _program(name: str) -> Path | None:
    pathfinder = _pathfinder()
    if pathfinder is None or not hasattr(pathfinder, "find_nvidia_binary_utility"):
        return None
    try:
        return _existing(pathfinder.find_nvidia_binary_utility(name))
    except Exception:  # noqa: BLE001  # as above
        return None


def _existing(path: str | None) -> Path | None:
    return Path(path) if path and Path(path).is_file() else None


@cache
def _pathfinder() -> ModuleType | None:
    try:
        from cuda import pathfinder
    except ImportError:  # without numba-cuda
        return None
    return pathfinder if isinstance(pathfinder, ModuleType) else None

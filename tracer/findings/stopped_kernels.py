"""Kernels in CUDA C++ that a GPU would stop: an illegal address, a failed assertion, threads that wait for each other.

A program in CUDA C++ goes on after them with an error code, as on a GPU. Numba's kernels raise an exception instead.
"""

from __future__ import annotations

import numpy as np

from ..model.finding import Finding, coordinates_text
from ..model.trace import Trace

# Names of errors in traces of CUDA C++ (`KernelError.type`), with the kind of finding and what the user can do.
REMEDIES = {
    "IllegalAddress": (
        "bounds",
        "pass a pointer that cudaMalloc returned, and test the index before it is used",
    ),
    "HostMemory": ("bounds", "allocate memory with cudaMalloc and copy the data with cudaMemcpy"),
    "FreedMemory": ("bounds", "call cudaFree after the last kernel that uses the memory"),
    "MisalignedAddress": (
        "bounds",
        "let the index be a multiple of the vector's length, or load single elements",
    ),
    "SurfaceBounds": (
        "bounds",
        "test the coordinates, whose first counts bytes, or pass cudaBoundaryModeZero",
    ),
    "Assertion": ("launch", "correct the input, or the condition"),
    "Trap": ("launch", "find the branch that calls it"),
    "Exception": ("launch", "a GPU has no exceptions: return an error code instead"),
    "Deadlock": (
        "launch",
        "let every thread of the mask or the block reach the operation that the others wait at",
    ),
}
ADDRESSES = ("IllegalAddress", "HostMemory")  # errors that a wrong address makes


def stopped_kernel_findings(trace: Trace) -> list[Finding]:
    """List an error for a kernel in CUDA C++ that a GPU would stop."""
    error = trace.error
    if error is None or error.type not in REMEDIES:
        return []
    kind, remedy = REMEDIES[error.type]
    block = _linear(error.block, trace.grid)
    thread = _linear(error.thread, trace.block_dim)
    blocks = f"block {coordinates_text(block, trace.grid)}"
    place = f"thread {coordinates_text(thread, trace.block_dim)} of {blocks}"
    message = error.message.removesuffix(".")
    outside = trace.outside
    if error.type in ADDRESSES and ((outside.block == block) & (outside.thread == thread)).any():
        message = (
            "accesses an address that is not memory of the GPU, after it accessed elements outside an array"
        )
        remedy = "correct that access first, as this address may come from it"
    statement = f"the kernel is stopped on line {error.line}: {place} {message}; {remedy}."
    rows = np.flatnonzero((trace.block == block) & (trace.thread == thread))
    return [
        Finding(
            kind, "error", statement, remedy, 1, (), rows, tuple(rows[-1:].tolist()), ((block, thread),), 0,
            (error.file, error.line), cause=error.type,
        )
    ]  # fmt: skip


def _linear(position: tuple[int, int, int], dim: tuple[int, int, int]) -> int:
    return position[0] + dim[0] * (position[1] + dim[1] * position[2])

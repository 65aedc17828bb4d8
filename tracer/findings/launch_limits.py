"""Launches that exceed a GPU's limits, though Numba's simulator takes them, and launches that never end.

The limits are those of "Compute Capabilities" in the CUDA C++ Programming Guide, the same for all devices since 2012.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from ..analysis.kernel_structure import is_in_cuda_cpp
from ..model.finding import Finding
from ..model.launch import decode
from ..model.launch_limits import BLOCK, GRID, THREADS
from ..model.trace import Trace

# Bytes of shared memory that a block has unless a program asks the driver for more, which Numba's launches don't.
SHARED = 48 * 1024
KIND = "launch"
TIMEOUT = "LaunchTimeoutError"  # error of a launch that was ended from outside
NEVER_ENDS = (
    "LivelockError"  # raised by `livelock`, which needs greenlets: the window's process can't import it
)


def launch_limit_findings(trace: Trace) -> list[Finding]:
    """Return an error for each reason why a GPU would not run this launch, or not to its end."""
    errors = [_error(*limit) for limit in (*_sizes(trace), *_shared(trace))]
    return [*errors, *_endless(trace)]


def _error(number: int, message: str, remedy: str, place: tuple[str, int] | None = None) -> Finding:
    no_rows = np.empty(0, np.int64)
    return Finding(KIND, "error", f"{message}; {remedy}.", remedy, number, (), no_rows, (), (), 0, place)


def _sizes(trace: Trace) -> Iterator[tuple[int, str, str]]:
    if trace.threads > THREADS:
        text = f"{trace.threads:,} threads in a block, of which a GPU takes {THREADS:,} at most: the launch fails"
        yield trace.threads, text, "launch more blocks with fewer threads"
    for name, dim, limits in (("block", trace.block_dim, BLOCK), ("grid", trace.grid, GRID)):
        for axis, size, limit in zip("xyz", dim, limits, strict=True):
            if limit < size and (name == "grid" or size <= THREADS):
                text = f"{size:,} along {axis} of the {name}, where a GPU takes {limit:,} at most: the launch fails"
                yield size, text, "use x, which may be longest"


def _shared(trace: Trace) -> Iterator[tuple[int, str, str]]:
    dynamic = decode(trace.launch).shared_bytes if trace.launch else 0
    ends = [b.address + b.size * b.unit for b in trace.buffers if b.space == "shared"]
    total = max([*ends, dynamic])
    if total <= SHARED or is_in_cuda_cpp(trace):  # CUDA C++ may ask the driver for more
        return
    effect = "the launch fails" if dynamic else "the kernel does not compile"
    text = f"{total:,} bytes of shared memory in a block, where Numba gets {SHARED:,} at most: {effect}"
    yield total, text, "use smaller tiles, or a smaller type"


def _endless(trace: Trace) -> Iterator[Finding]:
    error = trace.error
    if error is None or error.type not in (NEVER_ENDS, TIMEOUT):
        return
    if error.type == NEVER_ENDS:
        message = f"1 launch does not end: {error.message}"
        remedy = "change in the loop what it waits for, or let another thread, which runs at the same time, write it"
    else:
        message = f"1 launch does not end: {error.message[:1].lower()}{error.message[1:].removesuffix('.')}"
        remedy = "change the loop so that its condition becomes false, or let it take longer with --patience"
    finding = _error(1, message, remedy, (error.file, error.line))
    yield replace(finding, certainty="possible") if error.type == TIMEOUT else finding

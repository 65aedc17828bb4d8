"""The words of CUDA C++ in findings, which are written for Numba."""

from __future__ import annotations

import re

from msgspec.structs import replace

from ..model.finding import Finding

WORDS = {
    "cuda.syncthreads()": "__syncthreads()",
    "cuda.syncwarp()": "__syncwarp()",
    "cuda.threadfence()": "__threadfence()",
    "cuda.threadfence_block()": "__threadfence_block()",
    "cuda.atomic.cas": "atomicCAS",
    "use cuda.atomic for both": "use atomicAdd or another atomic function for both",
    "cuda.atomic": "an atomic function",
    "the array's shape": "the array's length",
    "fill the array before the launch, as with cuda.to_device(np.zeros(...))": (
        "fill it before the launch, as with cudaMemset"
    ),
    "where Numba gets": "where a block gets",
    "the kernel does not compile": "nvcc refuses it",
}
_PATTERN = re.compile("|".join(map(re.escape, sorted(WORDS, key=len, reverse=True))))


def in_cuda_cpp(finding: Finding) -> Finding:
    """Return the finding with the names that CUDA C++ has."""
    statement, remedy = (
        _PATTERN.sub(lambda match: WORDS[match[0]], text) for text in (finding.statement, finding.remedy)
    )
    return replace(finding, statement=statement, remedy=remedy)

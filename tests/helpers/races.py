"""Races of kernels from a text, under every schedule."""

from __future__ import annotations

import pytest

from launching import trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

EVERY = pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])


def kernel(folder, body, *arguments, block=32, grid=4, schedule="lockstep", **options):
    names = "".join(f"arg{i}, " for i in range(len(arguments)))
    head = f"@cuda.jit\ndef kernel({names}):\n    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)\n"
    source = head + "".join(f"    {line}\n" for line in body.splitlines())
    ended = trace(
        folder, source, arguments, grid=(grid, 1, 1), block=(block, 1, 1), schedule=schedule, **options
    )
    assert ended.error is None, ended.error
    return ended


def races(ended):
    return [f for f in findings_of(ended, requests_of(ended)) if f.kind == "race" and f.severity == "error"]


def raced(ended):
    """Return the names of the buffers of which an element is raced for."""
    return {ended.buffers[int(ended.buffer[f.example[0]])].name for f in races(ended)}

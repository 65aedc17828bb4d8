"""Kernels for tests of findings: from a text, with the races of their traces, and those of the catalogue."""

from __future__ import annotations

import pytest

from launching import trace
from tilescope.kernels.scenarios.catalogue import groups
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.plan import launch_of

EVERY = pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
PITFALLS = "Pitfalls"
# The errors that the pitfalls are about.
ERRORS = {
    "matmul-tiled-one-barrier": {"race"},
    "matmul-tiled-early-return": {"unwritten"},
    "count-racing": {"race"},
}
KERNELS = [
    (group, scenario) for group, scenarios in groups().items() for scenario in scenarios
    if "@cuda.jit" in launch_of(scenario, {}).source
]  # fmt: skip


def kernel_text(body, count):
    names = "".join(f"arg{i}, " for i in range(count))
    return f"@cuda.jit\ndef kernel({names}):\n    t, i = cuda.threadIdx.x, cuda.grid(1)\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )


def trace_kernel(folder, body, *arguments, block=32, grid=4, schedule="lockstep", **options):
    names = "".join(f"arg{i}, " for i in range(len(arguments)))
    head = f"@cuda.jit\ndef kernel({names}):\n    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)\n"
    source = head + "".join(f"    {line}\n" for line in body.splitlines())
    ended = trace(
        folder, source, arguments, grid=(grid, 1, 1), block=(block, 1, 1), schedule=schedule, **options
    )
    assert ended.error is None, ended.error
    return ended


def harmful_races(ended):
    return [f for f in findings_of(ended, requests_of(ended)) if f.kind == "race" and f.severity == "error"]


def racing_buffers(ended):
    """Return the names of the buffers of which an element is raced for."""
    return {ended.buffers[int(ended.buffer[f.example[0]])].name for f in harmful_races(ended)}

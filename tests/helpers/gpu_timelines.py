"""Timelines as a GPU might have given them, made of a trace's phases: no clock was read for them."""

from __future__ import annotations

import numpy as np

from tilescope.tracer.hardware.timeline import (
    SEGMENT_KINDS,
    BlockSpans,
    KernelCost,
    Segments,
    Timeline,
    TimelineHead,
)
from tilescope.tracer.hardware.times.measurement import Device
from tilescope.tracer.model.launch import decode
from tilescope.tracer.model.trace import Trace

DEVICE = Device("NVIDIA Test", (9, 0), 4, 1 << 34, 1 << 25, "580.0", (13, 0), None)
MHZ = 1000.0
CYCLES = {"load": 900, "wait": 150, "compute": 400}


def synthetic_timeline(
    trace: Trace, values: dict[str, int | str], multiprocessors: int = 4, at_once: int = 2
) -> Timeline:
    """Return a timeline of a trace's launch: `at_once` blocks on each multiprocessor, wave after wave.

    In each phase a warp loads, in all phases computes, and waits at the end of each; later warps take longer.
    """
    launch = decode(trace.launch)
    blocks, warps = len(trace.blocks), trace.warps
    phases = int(trace.phase.max(initial=0)) + 1
    kinds = ["load", "compute", "wait"]
    parts = np.arange(blocks * warps * phases * len(kinds))
    place = np.unravel_index(parts, (blocks, warps, phases, len(kinds)))
    length = np.array([CYCLES[kind] for kind in kinds])[place[3]] + 10 * place[1]
    ends = length.reshape(blocks * warps, -1).cumsum(axis=1).ravel()
    lines = np.full(len(parts), int(trace.sites[0].line))
    segments = Segments(
        block=place[0].astype(np.uint32),
        warp=place[1].astype(np.uint8),
        kind=np.array([SEGMENT_KINDS.index(kind) for kind in kinds], np.uint8)[place[3]],  # type: ignore[arg-type]
        first_line=np.full(len(parts), min(site.line for site in trace.sites), np.uint16),
        last_line=np.maximum(lines, max(site.line for site in trace.sites)).astype(np.uint16),
        phase=place[2].astype(np.uint16),
        start=ends - length,
        end=ends,
    )
    long = int(ends.max())
    number = np.arange(blocks)
    start = (number // (multiprocessors * at_once)) * (long + 100)
    head = TimelineHead(
        launch.scenario, values, launch.kernel, launch.source, launch.grid, launch.block, launch.shared_bytes,
        DEVICE, "2026-11-23T09:00:00+00:00", "", MHZ, 32.0, "all",
        KernelCost(30, 0, (long / MHZ,)), KernelCost(34, 0, (1.1 * long / MHZ,)),
    )  # fmt: skip
    spans = BlockSpans((number % multiprocessors).astype(np.uint16), start, start + long)
    return Timeline(head, spans, segments)

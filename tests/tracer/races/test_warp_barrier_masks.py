"""Masks of syncwarp: only the lanes that they name are ordered."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finding_kernels import EVERY, harmful_races, racing_buffers, trace_kernel
from tilescope.tracer.races.detect import races_of
from tilescope.tracer.races.missed_barriers import missed_barriers_of

QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

HALVES = "if t % 32 < 16:\n    cuda.syncwarp(0xffff)"
BARRIERS = {
    "pass": lambda t: t,
    HALVES: lambda t: t // 32 if t % 32 < 16 else 1000 + t,
    "cuda.syncwarp()": lambda t: t // 32,
    "cuda.syncwarp(0xff if t % 32 < 8 else 0xffffff00)": lambda t: (t // 32, t % 32 < 8),
    "cuda.syncthreads()": lambda t: 0,
}
THREADS = 40


@st.composite
def statements(draw):
    """Draw (whether it stores, index as a + b * t modulo the array, the barrier after it), a few times."""
    step = st.tuples(
        st.booleans(), st.integers(0, 80), st.sampled_from([0, 1, 1, 2, -1]), st.sampled_from(list(BARRIERS))
    )
    return draw(st.lists(step, min_size=2, max_size=5))


def can_meet(steps):
    """Return the pairs of statements on which two threads meet that nothing orders, thread by thread.

    known[t][u]: up to which statement of thread u all comes before what t does next.
    """
    known_names = np.full((THREADS, THREADS), -1)
    findings = set()
    for j, (writes, shift, factor, barrier) in enumerate(steps):
        place = (shift + factor * np.arange(THREADS)) % 81
        for i, (also, other_shift, other_factor, _) in enumerate(steps[: j + 1]):
            other = (other_shift + other_factor * np.arange(THREADS)) % 81
            same = (place[:, None] == other[None, :]) & ~np.eye(THREADS, dtype=bool)
            if (writes or also) and (same & (known_names < i)).any():
                findings.add((i, j))
        groups = [BARRIERS[barrier](t) for t in range(THREADS)]
        before = known_names.copy()
        np.fill_diagonal(before, j)
        for t in range(THREADS):
            mates = [u for u in range(THREADS) if groups[u] == groups[t]]
            if len(mates) > 1:
                known_names[t] = before[mates].max(axis=0)
    return findings


@QUICK
@given(statements(), st.sampled_from(["lockstep", "sequential", "random"]))
def test_only_lanes_that_a_mask_names_are_ordered(tmp_path, steps, schedule):
    lines = ["s = cuda.shared.array(81, float32)"]
    numbers = []
    for writes, shift, factor, barrier in steps:
        element = f"s[({shift} + {factor} * t) % 81]"
        numbers.append(len("\n".join(lines).splitlines()))
        lines += [f"{element} = {len(lines)} * 1000 + t" if writes else f"x = {element}", barrier]
    ended = trace_kernel(tmp_path, "\n".join(lines), block=THREADS, grid=1, schedule=schedule)
    first = 1 + ended.sources[ended.sites[0].file].splitlines().index(
        "    s = cuda.shared.array(81, float32)"
    )
    findings = {
        tuple(sorted(numbers.index(ended.sites[site].line - first) for site in race.sites))
        for race in races_of(ended, missed_barriers_of(ended))
    }
    assert findings == can_meet(steps)


@EVERY
def test_a_half_warp_that_syncs_leaves_the_other_half_out(tmp_path, schedule):
    body = "s = cuda.shared.array(32, int32)\ns[t] = t\ncuda.syncwarp({mask})\nx = s[{other}]"
    half = "0xffff if t < 16 else 0xffff0000"
    within = trace_kernel(
        tmp_path, body.format(mask=half, other="t ^ 15"), block=32, grid=1, schedule=schedule
    )
    across = trace_kernel(
        tmp_path, body.format(mask=half, other="t ^ 16"), block=32, grid=1, schedule=schedule
    )
    assert harmful_races(within) == [] and racing_buffers(across) == {"s"}
    assert harmful_races(across)[0].remedy == "name both lanes in the mask of cuda.syncwarp() on line 9"
    assert set(within.warp_barriers.reach.tolist()) == {0xFFFF, 0xFFFF0000}

"""What is said where only a part of a launch was looked at: which one, and that figures are of it alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from ..model.finding import Finding, counted
from ..model.trace import Trace

KIND = "part"
SHOWN = 3  # runs of blocks that are named


def of_part(finding: Finding, trace: Trace) -> Finding:
    """Return a finding that says of its figures that they are of a part, where they are."""
    if not trace.is_part:
        return finding
    statement = finding.statement
    if " in all" in statement:
        return replace(finding, statement=statement.replace(" in all", " in the part examined"))
    return replace(finding, statement=f"{statement.removesuffix('.')} (of the part examined).")


def part_findings(trace: Trace, also: Sequence[int] = ()) -> list[Finding]:
    """Return what says which blocks were looked at, if not all were; a warning where nobody chose so.

    also: blocks that are not in the trace and were looked at too.
    """
    if not trace.is_part:
        return []
    blocks, chosen = math.prod(trace.grid), len(trace.blocks) < math.prod(trace.grid)
    kept = trace.recorded.tolist() if len(trace) < trace.accesses else trace.blocks.tolist()
    kept = sorted({*kept, *also})
    remedy = _remedy(kept, blocks)
    what = (
        f"only {blocks_text(kept)} of {blocks:,} {'were' if len(kept) > 1 else 'was'}"
        if kept
        else "nothing was"
    )
    message = f"{what} examined: {_why(trace)}; {remedy}."
    severity = "note" if chosen and kept and len(trace) == trace.accesses else "warning"
    rows = np.empty(0, np.int64)
    return [Finding(KIND, severity, message, remedy, len(kept), (), rows, (), (), 0)]


def _why(trace: Trace) -> str:
    if len(trace) < trace.accesses:
        return f"{len(trace):,} of {counted(trace.accesses, 'access')} are kept, and counters are of the whole launch"
    return "the others did not run"


def _remedy(kept: Sequence[int], blocks: int) -> str:
    others = [b for b in (blocks - 1, blocks // 2) if b not in kept]
    if not kept or not others:
        return "choose a smaller size"
    return f"choose a smaller size, or look at others with --blocks {','.join(map(str, sorted(others)))}"


def blocks_text(blocks: Sequence[int]) -> str:
    """Return the names of blocks, ascending: block 7; blocks 0 to 41; blocks 0 to 41 and 255."""
    starts = [b for place, b in enumerate(blocks) if not place or b != blocks[place - 1] + 1]
    ends = [b for place, b in enumerate(blocks) if place + 1 == len(blocks) or blocks[place + 1] != b + 1]
    runs = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in zip(starts, ends, strict=True)]
    if len(runs) > SHOWN:
        runs = [
            *runs[: SHOWN - 1],
            f"{len(blocks) - sum(e - s + 1 for s, e in zip(starts[:2], ends, strict=False)):,} more",
        ]
    text = " and ".join([", ".join(runs[:-1]), runs[-1]]) if len(runs) > 1 else runs[0]
    return f"block{'s' if len(blocks) > 1 else ''} {text}"

"""Notes about a launch of which only a part was examined: which part, and that figures are about that part."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from ..analysis.kernel_structure import is_in_cuda_cpp
from ..model.finding import Finding, count_noun, join_words
from ..model.trace import Trace

KIND = "part"
SHOWN = 3  # runs of blocks that are named


def mark_partial(finding: Finding, trace: Trace) -> Finding:
    """Add to a finding that its figures are of the part examined, if the trace is partial."""
    if not trace.is_part or _counts_every_access(finding, trace):
        return finding
    statement = finding.statement
    if " in all" in statement:
        return replace(finding, statement=statement.replace(" in all", " in the part examined"))
    return replace(finding, statement=f"{statement.removesuffix('.')} (of the part examined).")


def _counts_every_access(finding: Finding, trace: Trace) -> bool:
    """Check for a finding about accesses outside arrays: those of Numba kernels are recorded beyond the limit too."""
    is_outside = finding.kind == "bounds" and finding.severity == "error"
    return is_outside and len(trace.blocks) == math.prod(trace.grid) and not is_in_cuda_cpp(trace)


def part_findings(trace: Trace, also: Sequence[int] = ()) -> list[Finding]:
    """List a finding that names the blocks examined, if not all were; a warning unless the user chose them.

    also: examined blocks that are not in the trace.
    """
    if not trace.is_part:
        return []
    blocks, chosen = math.prod(trace.grid), len(trace.blocks) < math.prod(trace.grid)
    kept = trace.recorded.tolist() if len(trace) < trace.accesses else trace.blocks.tolist()
    kept = sorted({*kept, *also})
    remedy = _remedy(kept, blocks)
    examined = (
        f"only {blocks_text(kept)} of {blocks:,} {'were' if len(kept) > 1 else 'was'}"
        if kept
        else "nothing was"
    )
    message = f"{examined} examined: {_why(trace)}; {remedy}."
    severity = "note" if chosen and kept and len(trace) == trace.accesses else "warning"
    rows = np.empty(0, np.int64)
    return [Finding(KIND, severity, message, remedy, len(kept), (), rows, (), (), 0)]


def _why(trace: Trace) -> str:
    if len(trace) < trace.accesses:
        kept = f"{len(trace):,} of {count_noun(trace.accesses, 'access')}"
        return f"{kept} are kept, and counters are of the complete launch"
    return "the others did not run"


def _remedy(kept: Sequence[int], blocks: int) -> str:
    others = [b for b in (blocks - 1, blocks // 2) if b not in kept]
    if not kept or not others:
        return "choose a smaller size"
    return f"choose a smaller size, or look at others with --blocks {','.join(map(str, sorted(others)))}"


def blocks_text(blocks: Sequence[int]) -> str:
    """Name blocks, given in ascending order: block 7; blocks 0 to 41; blocks 0 to 41 and 255."""
    starts = [
        block for position, block in enumerate(blocks) if not position or block != blocks[position - 1] + 1
    ]
    ends = [
        block
        for position, block in enumerate(blocks)
        if position + 1 == len(blocks) or blocks[position + 1] != block + 1
    ]
    runs = [
        f"{first:,}" if first == block else f"{first:,} to {block:,}"
        for first, block in zip(starts, ends, strict=True)
    ]
    if len(runs) > SHOWN:
        runs = [
            *runs[: SHOWN - 1],
            f"{len(blocks) - sum(end - start + 1 for start, end in zip(starts[:2], ends, strict=False)):,} more",
        ]
    return f"block{'s' if len(blocks) > 1 else ''} {join_words(runs)}"

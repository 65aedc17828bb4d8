"""Barriers that not all running threads of a block reach.

After "Synchronization Functions" in the CUDA C++ Programming Guide: a barrier is allowed in conditional code
only if the condition is the same for the complete block. A barrier does not wait for threads that have returned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ..analysis.grid_barriers import grid_epochs
from ..analysis.kernel_structure import suites_at
from ..analysis.requests import Requests
from ..model.array_types import Ints
from ..model.finding import Finding, RelatedPlace, block_text, coordinates_text, count_noun, line_text
from ..model.trace import GRID_SCOPE, Op, Trace
from ..races.missed_barriers import MissedBarriers, first_sites

STAY = "keep every thread until the last barrier, and put its loads and stores under the condition instead"
FILL = "keep every thread until the last barrier, and let those without data write 0 before it"


def barrier_findings(trace: Trace, requests: Requests, missed: MissedBarriers) -> list[Finding]:
    """Return the barriers at which threads differ (errors) or that some returned before (warnings)."""
    expected = _expected_sites(trace)
    differ = trace.barriers.site != expected
    last = np.full(
        len(trace.blocks), np.iinfo(np.int64).max
    )  # the phase from which on all else is a consequence
    positions = trace.block_positions(trace.barriers.block)
    np.minimum.at(last, positions[differ], trace.barriers.phase[differ].astype(np.int64))
    wrong = np.flatnonzero(differ & (trace.barriers.phase == last[positions]))
    findings = [
        *_at_different_barriers(trace, requests, wrong, expected[wrong]),
        *_blocks_missing(trace, requests),
    ]
    is_cause = missed.phase <= last[missed.block_position]
    for ran_on in (True, False):
        own = is_cause & (missed.ran_on == ran_on)
        findings += [
            _missed(trace, requests, missed, np.flatnonzero(own & (missed.site == site)))
            for site in np.unique(missed.site[own])
        ]
    return findings


def _expected_sites(trace: Trace) -> Ints:
    """Return for each arrival at a barrier the site at which its block's first thread came to that barrier."""
    barriers = trace.barriers
    first = first_sites(trace, int(barriers.phase.max(initial=0)) + 1)
    expected: Ints = first[trace.block_positions(barriers.block), barriers.phase]
    return expected


def _at_different_barriers(trace: Trace, requests: Requests, wrong: Ints, expected: Ints) -> list[Finding]:
    """List a finding for each two sites at which threads of one block wait at the same time.

    wrong: the arrivals at another site than the block's first thread. expected: the sites of those.
    """
    barriers = trace.barriers
    pairs = np.stack([expected, barriers.site[wrong]], axis=1).astype(np.int64)
    return [
        _two_barriers(trace, requests, wrong[(pairs == pair).all(axis=1)], *pair.tolist())
        for pair in np.unique(pairs, axis=0)
    ]


def _blocks_missing(trace: Trace, requests: Requests) -> list[Finding]:
    """List a finding for each barrier of the grid that some blocks never reach, though they ran to their end."""
    barriers, findings = trace.barriers, []
    grid_arrivals = np.flatnonzero(barriers.reach == GRID_SCOPE)
    if not len(grid_arrivals) or trace.error is not None:
        return []
    epoch = grid_epochs(trace)
    number = epoch[trace.block_positions(barriers.block[grid_arrivals]), barriers.phase[grid_arrivals]]
    came, arrivals = epoch.max(axis=1), grid_arrivals[np.unique(number, return_index=True)[1]]
    for count, arrival in enumerate(arrivals.tolist()):
        missing = trace.blocks[(came <= count) & trace.is_recorded]
        if len(missing):
            findings.append(_grid_missed(trace, requests, arrival, missing))
    return findings


def _grid_missed(trace: Trace, requests: Requests, arrival: int, missing: Ints) -> Finding:
    """Describe the blocks that never reach a barrier of the grid, at which a thread arrives."""
    barriers = trace.barriers
    site, block, thread = (int(c[arrival]) for c in (barriers.site, barriers.block, barriers.thread))
    remedy = "let every block of the grid come to it"
    message = (
        f"{count_noun(len(missing), 'block')} never {_verb(len(missing), 'come')} to the grid's barrier on "
        f"{line_text(trace, site)}, first {block_text(trace, int(missing[0]))}, so a GPU waits for ever; {remedy}."
    )
    moment = _end_of(trace, requests, block, int(barriers.phase[arrival]))
    threads = ((block, thread), (int(missing[0]), 0))
    rows = np.empty(0, np.int64)
    return Finding(
        "barrier", "error", message, remedy, len(missing), (site,), rows, (), threads, moment
    )  # fmt: skip


def _two_barriers(trace: Trace, requests: Requests, arrivals: Ints, site: int, other: int) -> Finding:
    """Describe the threads that came (arrivals) to `other` while other threads of their block were at `site`."""
    barriers = trace.barriers
    block, phase, thread = (int(c[arrivals[0]]) for c in (barriers.block, barriers.phase, barriers.thread))
    same = (barriers.block == block) & (barriers.phase == phase) & (barriers.site == site)
    count = len(np.unique(trace.thread_numbers(barriers.block[arrivals], barriers.thread[arrivals])))
    remedy = "let all threads of the block come to one and the same barrier"
    message = (
        f"{count_noun(count, 'thread')} {_verb(count, 'wait')} at the barrier on "
        f"{line_text(trace, other)} while others of the block wait at that on {line_text(trace, site)}, first in "
        f"{block_text(trace, block)}, which no GPU promises to sort out; {remedy}."
    )
    threads = ((block, int(barriers.thread[np.flatnonzero(same)[0]])), (block, thread))
    moment = _end_of(trace, requests, block, phase)
    rows = np.empty(0, np.int64)
    sites = (other, site)
    if _is_in_branch(trace, site) and not _is_in_branch(trace, other):
        sites = (site, other)  # the branch is the cause
    return Finding(
        "barrier", "error", message, remedy, count, sites, rows, (), threads, moment
    )  # fmt: skip


def _is_in_branch(trace: Trace, site: int) -> bool:
    return any(suite.kind == "branch" for suite in suites_at(trace, trace.sites[site]))


def _missed(trace: Trace, requests: Requests, missed: MissedBarriers, chosen: Ints) -> Finding:
    """Describe the threads that missed one barrier: all ran past it, or all had returned."""
    example, site, ran_on = chosen[0], int(missed.site[chosen[0]]), bool(missed.ran_on[chosen[0]])
    block, thread = int(trace.blocks[missed.block_position[example]]), int(missed.thread[example])
    phase, waiting = _waiting(trace, missed, chosen)
    blocks = len(np.unique(missed.block_position[chosen]))
    matters = ran_on or _stored_to_shared(trace, missed, chosen)
    remedy = _move_remedy(trace, site) if ran_on else STAY
    thread_name = f"thread {coordinates_text(thread, trace.block_dim)} of {block_text(trace, block)}"
    whose = "its block" if len(chosen) == 1 else "their block" if blocks == 1 else "their blocks"
    others = f"others of {whose} wait at"
    deed = (
        f"{_verb(len(chosen), 'run')} past the barrier on {line_text(trace, site)} that {others}" if ran_on else
        f"returned before the barrier on {line_text(trace, site)} that {others}, which a GPU lets pass, "
        "but what they should have done for the others is missing" if matters else
        f"returned before the barrier on {line_text(trace, site)} that {others}, which a GPU lets pass, "
        "and as far as is seen the others need nothing of theirs"
    )  # fmt: skip
    message = f"{count_noun(len(chosen), 'thread')} {deed}, first {thread_name}; {'' if matters else 'else '}{remedy}."
    return Finding(
        "barrier", "error" if ran_on else "warning" if matters else "note", message, remedy, len(chosen), (site,),
        _rows_of(trace, missed, chosen), (), ((block, waiting), (block, thread)),
        _end_of(trace, requests, block, phase),
    )  # fmt: skip


def _stored_to_shared(trace: Trace, missed: MissedBarriers, chosen: Ints) -> bool:
    """Check whether some threads that missed a barrier had stored to shared memory, which others may read."""
    missing = np.zeros((len(trace.blocks), trace.threads), bool)
    missing[missed.block_position[chosen], missed.thread[chosen]] = True
    shared = np.array([buffer.space == "shared" for buffer in trace.buffers], bool)
    rows = np.flatnonzero(shared[trace.buffer] & (trace.op != Op.LOAD))
    return bool(missing[trace.block_positions(trace.block[rows]), trace.thread[rows]].any())


def merge_return_warnings(findings: Sequence[Finding], trace: Trace, missed: MissedBarriers) -> list[Finding]:
    """Merge the warning about threads that returned before a barrier into the errors that they caused.

    Such an error is a read of shared memory that the returned threads left unwritten.
    """
    returned = np.bincount(missed.block_position[~missed.ran_on], minlength=len(trace.blocks))
    blamed = [f for f in findings if f.kind == "unwritten" and _left_by(f, trace, returned)]
    warnings = [f for f in findings if f.kind == "barrier" and f.remedy == STAY]
    if not blamed or not warnings:
        return list(findings)
    count, sites = int(returned.sum()), [site for warning in warnings for site in warning.sites]
    cause_text = f"{count_noun(count, 'thread')} returned before the barrier on {line_text(trace, sites[0])}"
    places = tuple(sorted({RelatedPlace("", trace.sites[site].line) for site in sites[1:]}))
    return [
        replace(
            finding, remedy=FILL, cause=FILL, also=(*finding.also, *places),
            statement=finding.statement.replace(f"; {finding.remedy}.", f": {cause_text}; {FILL}."),
        ) if finding in blamed else finding
        for finding in findings if finding not in warnings
    ]  # fmt: skip


def _left_by(finding: Finding, trace: Trace, returned: Ints) -> bool:
    """Check whether threads that returned left elements unwritten.

    Each returned thread accounts for one element in its block. returned: the number of such threads per block.
    """
    if trace.buffers[int(trace.buffer[finding.rows[0]])].space != "shared":
        return False
    positions = trace.block_positions(trace.block[finding.rows])
    elements = np.unique(np.stack([positions, trace.index[finding.rows].astype(np.int64)]), axis=1)
    unwritten = np.bincount(elements[0], minlength=len(returned))
    return bool((unwritten <= returned).all())


def _move_remedy(trace: Trace, site: int) -> str:
    """Propose a remedy by which every thread of the block comes to a barrier that some ran past."""
    call, line = _call(trace, site), trace.sites[site].line
    around = [suite for suite in suites_at(trace, trace.sites[site]) if suite.kind != "function"]
    branch = next((s for s in reversed(around) if s.kind == "branch"), None)
    if branch is None and around:
        return f"let every thread of the block come to it in each round of the loop on line {around[-1].line}"
    if branch is None:
        return f"move {call} to where every thread of the block comes to it, outside all branches"
    split = ", which it splits in two" if branch.last > line else ""
    return f"move {call} out of the branch of line {branch.line}{split}, so that every thread of the block comes to it"


def _call(trace: Trace, site: int) -> str:
    """Name the call that makes a barrier."""
    of_grid = trace.barriers.reach[trace.barriers.site == site] == GRID_SCOPE
    return "the grid's sync()" if of_grid.any() else "cuda.syncthreads()"


def _waiting(trace: Trace, missed: MissedBarriers, chosen: Ints) -> tuple[int, int]:
    """Return the phase that the barrier ended and its first waiting thread, for the first thread that missed it."""
    barriers, first = trace.barriers, chosen[0]
    block, phase = trace.blocks[missed.block_position[first]], missed.phase[first]
    came = np.flatnonzero((barriers.block == block) & (barriers.phase == phase))
    return int(phase), int(barriers.thread[came].min())


def _rows_of(trace: Trace, missed: MissedBarriers, chosen: Ints) -> Ints:
    """List the accesses that threads made in the phase in which they missed the barrier."""
    phase: NDArray[np.int64] = np.full((len(trace.blocks), trace.threads), -1)
    phase[missed.block_position[chosen], missed.thread[chosen]] = missed.phase[chosen]
    return np.flatnonzero(phase[trace.block_positions(trace.block), trace.thread] == trace.phase)


def _end_of(trace: Trace, requests: Requests, block: int, phase: int) -> int:
    place = int(np.searchsorted(trace.blocks, block))
    return int(requests.span_end[place, min(phase, requests.span_end.shape[1] - 1)])


def _verb(count: int, verb: str) -> str:
    return verb + ("s" if count == 1 else "")

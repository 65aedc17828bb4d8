"""Reads of memory that nobody wrote: what compute-sanitizer's initcheck reports, for shared and local memory too.

Shared and local memory begin without content in every block and thread (CUDA C++ Programming Guide,
"Variable Memory Space Specifiers"); global memory does where the host only allocated it. A read that another
thread's write comes after only by chance is a race, and not reported here; nor is a load whose value nothing depends
on. An atomic reads too, so only a store makes sure of what it begins with; what is read after it is its fault, and
reported of it alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.grid_barriers import grid_epochs
from ..analysis.kernel_structure import called_name, is_statement
from ..analysis.overlap import UnitAccesses, block_ranges, dense_keys, overlapping_buffers, unit_accesses
from ..analysis.requests import Requests
from ..dataflow.load_uses import goes_nowhere
from ..model.array_types import Ints, Mask
from ..model.finding import Finding, access_element, counted, line_text, thread_text
from ..model.launch import Array, decode
from ..model.trace import ALIAS_SEPARATOR, Op, Trace, poison
from ..races.conflicting_accesses import WritersByKey
from .source.index_expressions import kernel_parameters

NEVER = np.iinfo(np.int64).max
REMEDY = {
    "shared": "write it first, as with 0, and put cuda.syncthreads() between",
    "local": "write it first, as with 0",
    "global": "fill the array before the launch, as with cuda.to_device(np.zeros(...))",
}


def uninitialised_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return an error for each buffer and site that reads elements which nobody wrote before, in step order."""
    found: list[Finding] = []
    reading = trace.access_counts[:, [Op.LOAD, Op.ATOMIC, Op.REDUCTION]].sum(axis=1)
    spaces = ("global",) if trace.written_first else ("shared", "local", "global")
    for group in overlapping_buffers(trace, spaces):
        if np.any(reading[group]) and (empty := _empty(trace, group)) is not None:
            whole = trace.buffers[group[0]].space == "global"
            some = [slice(0, len(trace))] if whole else block_ranges(trace)
            each = [_uninitialised(trace, unit_accesses(trace, group, part), empty) for part in some]
            rows, later = (np.concatenate(columns) for columns in zip(*each, strict=True))
            matters = ~_goes_nowhere(trace, rows)
            rows, later = rows[matters], later[matters]
            found += _findings(trace, requests, rows, later)
    return found


def _goes_nowhere(trace: Trace, rows: Ints) -> Mask:
    """Return which reads are loads whose value nothing depends on."""
    given = (trace.site[rows], trace.block[rows], trace.thread[rows], trace.steps_of(rows))
    nowhere: Mask = (trace.op[rows] == Op.LOAD) & goes_nowhere(trace, *given)
    return nowhere


def _uninitialised(trace: Trace, touches: UnitAccesses, empty: Mask) -> tuple[Ints, Mask]:
    """Return the reads of pieces that began empty and were not written before, and whether they were later."""
    rows = touches.rows
    if not len(rows):
        return rows, np.empty(0, bool)
    copy = _copy(trace, rows)
    key, size = dense_keys((copy - copy.min()) * touches.count + touches.unit)
    store, load = _stores(trace, rows), trace.op[rows] == Op.LOAD
    may = np.ones(len(rows), bool) if empty.all() else empty[touches.unit]
    bad, later = _too_early(trace, touches, key, size, load & may, ~load)
    if not (store | load).all():
        atomic = ~(store | load) & may
        found = _too_early(trace, touches, key, size, atomic, store)
        bad, later = bad | found[0], later | found[1]
    found_rows, start = np.unique(rows[bad], return_index=True)
    return found_rows, later[bad][start]


def _stores(trace: Trace, rows: Ints) -> Mask:
    """Return which accesses write without reading: stores, and atomic exchanges whose old value is not used."""
    exchange = np.array(
        [called_name(trace, s) == "exch" and is_statement(trace, s) for s in trace.sites], bool
    )
    store: Mask = trace.op[rows] == Op.STORE
    if exchange.any():
        store |= (trace.op[rows] == Op.ATOMIC) & exchange[trace.site[rows]]
    return store


def _too_early(
    trace: Trace, touches: UnitAccesses, key: Ints, size: int, reads: Mask, writes: Mask
) -> tuple[Mask, Mask]:  # fmt: skip
    """Return which reads come before any write and are in no race with one, and which of them a write follows."""
    step = trace.steps_of(touches.rows)
    first, back = np.full(size, NEVER), np.flatnonzero(writes)[::-1]
    first[key[back]] = step[back]  # the earliest is put in last
    bad = reads & (first[key] >= step)
    if bad.any():
        bad[bad] = ~_raced(trace, touches, key, bad, writes)
    return bad, bad & (first[key] < NEVER)


def _raced(trace: Trace, touches: UnitAccesses, key: Ints, bad: Mask, written: Mask) -> Mask:
    """Return which of some reads (bad) another thread's write (written) meets, so that it could have come before."""
    seen = np.zeros(int(key.max()) + 1, bool)
    seen[key[bad]] = True
    writes = touches.rows[on := np.flatnonzero(seen[key] & written)]
    reads, read_key, write_key = touches.rows[bad], key[bad], key[on]
    phases = int(trace.phase.max(initial=0)) + 1
    both = np.concatenate([write_key, read_key])
    row = np.concatenate([writes, reads])
    place = trace.block_positions(trace.block[row])
    number, size = dense_keys((both * len(trace.blocks) + place) * phases + trace.phase[row])
    count = len(writes)
    in_block = WritersByKey(number[:count], size, trace.thread[writes]).others(
        number[count:], trace.thread[reads]
    )
    both, size = dense_keys(both * phases + grid_epochs(trace)[place, trace.phase[row]])
    between = WritersByKey(both[:count], size, place[:count]).others(both[count:], place[count:])
    return in_block | between


def _copy(trace: Trace, rows: Ints) -> Ints:
    """Return which copy of the memory an access is to: one per block, thread, or launch."""
    space = trace.buffers[int(trace.buffer[rows[0]])].space
    if space == "global":
        return np.zeros(len(rows), np.int64)
    if space == "shared":
        return trace.block_positions(trace.block[rows])
    return trace.thread_of(rows)


def _empty(trace: Trace, group: list[int]) -> Mask | None:
    """Return per piece of a group's memory whether it began without content; None where all had some.

    What other blocks wrote is not known where only some ran or were kept: nothing is said of global memory.
    """
    if trace.buffers[group[0]].space != "global":
        return np.ones(1, bool)
    number = group[0]
    if (
        len(group) > 1
        or number not in trace.initial
        or trace.is_part
        or not _is_allocated_only(trace, number)
    ):
        return None
    empty = _began_empty(trace, number)
    return empty if empty.any() else None


def _is_allocated_only(trace: Trace, number: int) -> bool:
    """Return whether an argument in a buffer is memory that the host allocated, and of which some is unwritten."""
    if not trace.launch:
        return True
    names, arguments = kernel_parameters(trace), decode(trace.launch).arguments
    given = dict(zip(names, arguments, strict=False))
    of_buffer = (given.get(name) for name in trace.buffers[number].name.split(ALIAS_SEPARATOR))
    return any(isinstance(one, Array) and one.fill == "empty" for one in of_buffer)


def _began_empty(trace: Trace, number: int) -> Mask:
    """Return which elements of a global buffer the host left empty, as far as their bits tell.

    They are poison then. In small integers, as of pictures, poison is a common value too, so all of the array must
    be; of booleans nothing is said.
    """
    content = trace.initial[number]
    empty = _bits(np.array([poison(content.dtype)], content.dtype))
    alike: Mask = (_bits(content) == empty).all(axis=1)
    sure = content.dtype.kind in "fc" or (
        content.dtype.kind in "iu" and (content.itemsize > 2 or alike.all())
    )
    return alike & sure


def _bits(values: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)


def _findings(trace: Trace, requests: Requests, rows: Ints, later: Mask) -> list[Finding]:
    code = trace.buffer[rows].astype(np.int64) * len(trace.sites) + trace.site[rows]
    return [_finding(trace, requests, rows[code == one], later[code == one]) for one in np.unique(code)]


def _finding(trace: Trace, requests: Requests, rows: Ints, later: Mask) -> Finding:
    first = int(rows[0])
    site, buffer = int(trace.site[first]), trace.buffers[int(trace.buffer[first])]
    count, remedy = len(rows), REMEDY[buffer.space]
    when = "wrote before" if later[0] else "ever wrote"
    deed = "read" if trace.op[first] == Op.LOAD else "update"
    message = (
        f"{counted(count, deed)} of {buffer.name} on {line_text(trace, site)} {'gets' if count == 1 else 'get'} "
        f"what the {buffer.space} memory happened to hold, first {thread_text(trace, first, block=True)} at "
        f"{access_element(trace, first)}, which nobody {when}; {remedy}."
    )
    thread = (int(trace.block[first]), int(trace.thread[first]))
    moment = int(requests.moment[requests.request[first]])
    return Finding(
        "unwritten", "error", message, remedy, count, (site,), rows, (first,), (thread,), moment,
        name=buffer.name, cause=buffer.name,
    )  # fmt: skip

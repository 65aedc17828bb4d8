"""Reads of uninitialised memory, as compute-sanitizer's initcheck reports them, for shared and local memory too.

Shared and local memory begin without content in every block and thread (CUDA C++ Programming Guide,
"Variable Memory Space Specifiers"). So does global memory that the host only allocated. A read that only by chance
precedes another thread's write is a race, and not reported here; nor is a load whose value nothing depends on.
An atomic reads too, so only a store initialises. Later reads of an element that an atomic read too early are not
reported: only the atomic is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.grid_barriers import grid_epochs
from ..analysis.kernel_structure import called_name, is_in_cuda_cpp, is_statement
from ..analysis.overlap import UnitAccesses, block_ranges, dense_keys, overlapping_buffers, unit_accesses
from ..analysis.requests import Requests
from ..dataflow.load_uses import find_unused_loads
from ..model.array_types import Ints, Mask
from ..model.finding import (
    Finding,
    access_element,
    count_noun,
    first_sites_on_lines,
    line_text,
    thread_text,
)
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
    """List an error for each buffer and line that reads elements before any write, in step order."""
    findings: list[Finding] = []
    reading = trace.access_counts[:, [Op.LOAD, Op.ATOMIC, Op.REDUCTION]].sum(axis=1)
    spaces = ("global",) if trace.is_initialised else ("shared", "local", "global")
    for group in overlapping_buffers(trace, spaces):
        if np.any(reading[group]) and (empty := _pieces_without_content(trace, group)) is not None:
            one_copy = trace.buffers[group[0]].space == "global"
            parts = [slice(0, len(trace))] if one_copy else block_ranges(trace)
            reads = [_uninitialised(trace, unit_accesses(trace, group, part), empty) for part in parts]
            rows, later = (np.concatenate(columns) for columns in zip(*reads, strict=True))
            matters = ~_is_unused(trace, rows)
            rows, later = rows[matters], later[matters]
            findings += _findings(trace, requests, rows, later)
    return findings


def _is_unused(trace: Trace, rows: Ints) -> Mask:
    """Find the loads whose value nothing depends on."""
    accesses = (trace.site[rows], trace.block[rows], trace.thread[rows], trace.steps_of(rows))
    unused: Mask = (trace.op[rows] == Op.LOAD) & find_unused_loads(trace, *accesses)
    return unused


def _uninitialised(trace: Trace, touches: UnitAccesses, empty: Mask) -> tuple[Ints, Mask]:
    """Find the reads of pieces that began empty and were not written before, and test for a later write."""
    rows = touches.rows
    if not len(rows):
        return rows, np.empty(0, bool)
    copy = _copy_numbers(trace, rows)
    key, size = dense_keys((copy - copy.min()) * touches.count + touches.unit)
    store, load = _stores(trace, rows), trace.op[rows] == Op.LOAD
    candidate = np.ones(len(rows), bool) if empty.all() else empty[touches.unit]
    bad, later = _too_early(trace, touches, key, size, load & candidate, ~load)
    if not (store | load).all():
        atomic = ~(store | load) & candidate
        atomic_reads = _too_early(trace, touches, key, size, atomic, store)
        bad, later = bad | atomic_reads[0], later | atomic_reads[1]
    early_rows, start = np.unique(rows[bad], return_index=True)
    return early_rows, later[bad][start]


def _stores(trace: Trace, rows: Ints) -> Mask:
    """Find the accesses that write without reading: stores, and atomic exchanges whose old value is not used."""
    exchange = np.array(
        [called_name(trace, site) == "exch" and is_statement(trace, site) for site in trace.sites], bool
    )
    store: Mask = trace.op[rows] == Op.STORE
    if exchange.any():
        store |= (trace.op[rows] == Op.ATOMIC) & exchange[trace.site[rows]]
    return store


def _too_early(
    trace: Trace, touches: UnitAccesses, key: Ints, size: int, reads: Mask, writes: Mask
) -> tuple[Mask, Mask]:  # fmt: skip
    """Find the reads before any write that race with none, and those of them that a write follows."""
    step = trace.steps_of(touches.rows)
    first, last_to_first = np.full(size, NEVER), np.flatnonzero(writes)[::-1]
    first[key[last_to_first]] = step[last_to_first]  # the earliest write is assigned last
    bad = reads & (first[key] >= step)
    if bad.any():
        bad[bad] = ~_raced(trace, touches, key, bad, writes)
    return bad, bad & (first[key] < NEVER)


def _raced(trace: Trace, touches: UnitAccesses, key: Ints, bad: Mask, written: Mask) -> Mask:
    """Test each early read (bad) for a race with another thread's write (written), which could have come before."""
    read_keys = np.zeros(int(key.max()) + 1, bool)
    read_keys[key[bad]] = True
    writes = touches.rows[matches := np.flatnonzero(read_keys[key] & written)]
    reads, read_key, write_key = touches.rows[bad], key[bad], key[matches]
    phases = int(trace.phase.max(initial=0)) + 1
    keys = np.concatenate([write_key, read_key])
    rows = np.concatenate([writes, reads])
    position = trace.block_positions(trace.block[rows])
    phase_keys, size = dense_keys((keys * len(trace.blocks) + position) * phases + trace.phase[rows])
    write_count = len(writes)
    races_in_block = WritersByKey(phase_keys[:write_count], size, trace.thread[writes]).others(
        phase_keys[write_count:], trace.thread[reads]
    )
    keys, size = dense_keys(keys * phases + grid_epochs(trace)[position, trace.phase[rows]])
    races_across_blocks = WritersByKey(keys[:write_count], size, position[:write_count]).others(
        keys[write_count:], position[write_count:]
    )
    return races_in_block | races_across_blocks


def _copy_numbers(trace: Trace, rows: Ints) -> Ints:
    """Number the copy of the memory that each access is to: one per block, thread, or launch."""
    space = trace.buffers[int(trace.buffer[rows[0]])].space
    if space == "global":
        return np.zeros(len(rows), np.int64)
    if space == "shared":
        return trace.block_positions(trace.block[rows])
    return trace.thread_of(rows)


def _pieces_without_content(trace: Trace, group: list[int]) -> Mask | None:
    """Test per piece of a group's memory that it began without content; None if all had some.

    Where only some blocks ran or were kept, the others' writes are not known: global memory is not examined.
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
    """Check whether an argument in a buffer is memory that the host allocated and partly left unwritten."""
    if not trace.launch or is_in_cuda_cpp(trace):  # cudaMalloc fills memory with poison
        return True
    names, arguments = kernel_parameters(trace), decode(trace.launch).arguments
    by_name = dict(zip(names, arguments, strict=False))
    buffer_arguments = (by_name.get(name) for name in trace.buffers[number].name.split(ALIAS_SEPARATOR))
    return any(isinstance(argument, Array) and argument.fill == "empty" for argument in buffer_arguments)


def _began_empty(trace: Trace, number: int) -> Mask:
    """Find the elements of a global buffer that the host left empty, by their bits.

    They are poison then. In small integers, as of pictures, poison is a common value too, so the complete array must
    be poison. Booleans are never reported.
    """
    content = trace.initial[number]
    poison_bits = _bits(np.array([poison(content.dtype)], content.dtype))
    is_poison: Mask = (_bits(content) == poison_bits).all(axis=1)
    is_conclusive = content.dtype.kind in "fc" or (
        content.dtype.kind in "iu" and (content.itemsize > 2 or is_poison.all())
    )
    return is_poison & is_conclusive


def _bits(values: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)


def _findings(trace: Trace, requests: Requests, rows: Ints, later: Mask) -> list[Finding]:
    keys = (
        trace.buffer[rows].astype(np.int64) * len(trace.sites) + first_sites_on_lines(trace)[trace.site[rows]]
    )
    keys = keys * 2 + (trace.op[rows] == Op.LOAD)
    return [_finding(trace, requests, rows[keys == key], later[keys == key]) for key in np.unique(keys)]


def _finding(trace: Trace, requests: Requests, rows: Ints, later: Mask) -> Finding:
    first = int(rows[0])
    site, buffer = int(trace.site[first]), trace.buffers[int(trace.buffer[first])]
    count, remedy = len(rows), REMEDY[buffer.space]
    qualifier = "wrote before" if later[0] else "ever wrote"
    action = "read" if trace.op[first] == Op.LOAD else "update"
    message = (
        f"{count_noun(count, action)} of {buffer.name} on {line_text(trace, site)} {'gets' if count == 1 else 'get'} "
        f"what the {buffer.space} memory happened to hold, first {thread_text(trace, first, block=True)} at "
        f"{access_element(trace, first)}, which no thread {qualifier}; {remedy}."
    )
    thread = (int(trace.block[first]), int(trace.thread[first]))
    moment = int(requests.moment[requests.request[first]])
    sites = tuple(dict.fromkeys([site, *np.unique(trace.site[rows]).tolist()]))
    return Finding(
        "unwritten", "error", message, remedy, count, sites, rows, (first,), (thread,), moment,
        name=buffer.name, cause=buffer.name,
    )  # fmt: skip

"""The cost of a request: sectors of global memory, wavefronts of shared memory. All code uses these rules.

They follow the CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory
Banks". For atomics, complex elements and elements that are not 4 bytes wide they follow counts of Nsight Compute
on an NVIDIA H200 and an H100 (tests/data).

One table (`rules_of`) has the rules for each buffer and op. The cost of a request's accesses is computed in two
ways: `cost_of` takes one request, in plain Python that Numba compiles in the worker (`compiled.rows`), for
streamed rows; `costs_of` takes all requests of a trace, in NumPy, also where Numba is not loaded. NumPy would take
ten times as long for streamed rows. tests/ compares the two on random requests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.array_types import Ints
from ..model.grouping import group_starts, positions_in_group
from ..model.trace import WARP, Buffer, Op, Trace

SECTOR_BITS, WORD_BITS, LANE_BITS = 5, 2, 5
SECTOR, WORD = 1 << SECTOR_BITS, 1 << WORD_BITS  # bytes
BANKS = 32
WIDE = (2 * WORD, 4 * WORD)  # bytes of the elements that a warp requests by halves, or by quarters
PERIOD = SECTOR  # bytes by which a request may be shifted at the same cost: its words move on together in the banks
MOST_PARTS = 4  # of a warp, see `wavefronts_by_lane`
CHUNK = 1024  # requests handled at once: few enough for their accesses to stay in a processor's cache

# Costs of a request. NOTHING: memory that is neither global nor shared. SECTORS: the distinct sectors that it
# touches. TURNS, of atomics: lanes at one address take turns, and a sector costs as many as its most contended
# address: the distinct pairs (sector, turn). WAVEFRONTS: the distinct words of the bank with the most words.
# WAVEFRONTS_BY_LANE, of WIDE elements: the sum of these over the parts of a warp; see `wavefronts_by_lane`.
NOTHING, SECTORS, TURNS, WAVEFRONTS, WAVEFRONTS_BY_LANE = range(5)

# Columns of the table of rules; RULE is that of the first Op.
ADDRESS, UNIT, ITEMSIZE, REQUESTS, RULE = range(5)


def rules_of(buffers: Sequence[Buffer]) -> Ints:
    """Build the table of rules for each buffer, shape (len(buffers), RULE + len(Op)).

    ADDRESS, UNIT, ITEMSIZE: as of `Buffer`, in bytes. REQUESTS: see `requests_each`. From RULE on: the rule of a
    request's cost, for each Op.
    """
    rows = [
        [
            buffer.address,
            buffer.unit,
            buffer.itemsize,
            requests_each(buffer),
            *(_rule(buffer, op) for op in Op),
        ]
        for buffer in buffers
    ]
    return np.array(rows, np.int64).reshape(len(rows), RULE + len(Op))


def requests_each(buffer: Buffer) -> int:
    """Return the number of requests by which a warp accesses one element of this buffer per lane.

    The compiler makes two of complex values in global memory, each over the complete span (seen on an H200).
    """
    return 2 if buffer.space == "global" and np.dtype(buffer.dtype).kind == "c" else 1


def _rule(buffer: Buffer, op: Op) -> int:
    if buffer.space == "global":
        return TURNS if op >= Op.ATOMIC else SECTORS
    if buffer.space != "shared":
        return NOTHING
    return WAVEFRONTS_BY_LANE if buffer.itemsize in WIDE else WAVEFRONTS


# One request, in plain Python that Numba compiles.

# A set of numbers: open hashing, where an entry belongs to the latest request only if it has its mark.
TABLE = 1 << 9  # entries; a request adds up to 160 numbers: 32 lanes, each on up to 5 words
_MIX, _SHIFT = 0x1E3779B97F4A7C15, 40
MARKS, WORDS, LATEST = TABLE, 2 * TABLE, 2 * TABLE + BANKS
# After these: the address that each lane requests, the addresses of lanes that share a part, and the end.
BY_LANE, TOGETHER, SCRATCH = LATEST + 1, LATEST + 1 + WARP, LATEST + 1 + 2 * WARP


def new_scratch() -> Ints:
    """Return the scratch memory of `cost_of`: a set's numbers and marks, words by bank, the latest mark, addresses.

    It is one array, since each further argument of compiled functions costs time.
    """
    return np.zeros(SCRATCH, np.int64)


def cost_of(
    low: Sequence[int], count: int, lanes: int, op: int, buffer: int, rules: Ints, scratch: Ints
) -> int:
    """Compute the sectors or wavefronts of one request, 0 if it is to neither global nor shared memory.

    low: the first byte of each of its `count` accesses, by lane, all of an op and a buffer. lanes: a bit for each
    active lane. rules: see `rules_of`; scratch: see `new_scratch`.
    """
    rule, itemsize = rules[buffer, RULE + op], rules[buffer, ITEMSIZE]
    if rule == SECTORS:
        return sectors_of(low, count, itemsize, scratch)
    if rule == TURNS:
        return turns_of(low, count, scratch)
    if rule == WAVEFRONTS:
        return wavefronts_of(low, count, itemsize, scratch)
    if rule == WAVEFRONTS_BY_LANE:
        number = 0
        for lane in range(WARP):
            if lanes >> lane & 1:
                scratch[BY_LANE + lane] = low[number]
                number += 1
        return wavefronts_in_parts(lanes, itemsize, scratch)
    return 0


def sectors_of(low: Sequence[int], count: int, itemsize: int, scratch: Ints) -> int:
    """Count the distinct sectors that accesses touch."""
    sectors, mark = 0, new_mark(scratch)
    for lane in range(count):
        for sector in range(low[lane] >> SECTOR_BITS, ((low[lane] + itemsize - 1) >> SECTOR_BITS) + 1):
            if is_new(sector, mark, scratch):
                sectors += 1
    return sectors


def turns_of(low: Sequence[int], count: int, scratch: Ints) -> int:
    """Count the distinct (sector, turn) of accesses; each waits for the earlier ones at its address."""
    turns, mark = 0, new_mark(scratch)
    for lane in range(count):
        turn = 0
        for other in range(lane):
            turn += low[other] == low[lane]
        if is_new(low[lane] >> SECTOR_BITS << LANE_BITS | turn, mark, scratch):
            turns += 1
    return turns


def wavefronts_of(low: Sequence[int] | Ints, count: int, itemsize: int, scratch: Ints) -> int:
    """Count the distinct words that accesses touch of the bank with the most."""
    most, mark = 0, new_mark(scratch)
    for bank in range(BANKS):
        scratch[WORDS + bank] = 0
    for lane in range(count):
        for word in range(low[lane] >> WORD_BITS, ((low[lane] + itemsize - 1) >> WORD_BITS) + 1):
            if is_new(word, mark, scratch):
                bank = WORDS + (word & (BANKS - 1))
                scratch[bank] += 1
                most = max(most, scratch[bank])
    return most


def wavefronts_by_lane(
    low: Sequence[int], lanes: Sequence[int], count: int, itemsize: int, scratch: Ints
) -> int:
    """Count the passes over the banks of one request; lanes: of each access, its number in the warp.

    Accesses of 8 bytes are made by halves of a warp, of 16 bytes by quarters, one after the other. Two of these
    merge if neighbours request the same address: all lanes whose numbers differ in bit 0, or all in bit 1.
    """
    if itemsize not in WIDE:
        return wavefronts_of(low, count, itemsize, scratch)
    active = 0
    for number in range(count):
        scratch[BY_LANE + lanes[number]] = low[number]
        active |= 1 << lanes[number]
    return wavefronts_in_parts(active, itemsize, scratch)


def wavefronts_in_parts(lanes: int, itemsize: int, scratch: Ints) -> int:
    """Count the same for these lanes, a bit each, whose addresses are in scratch by lane."""
    parts = itemsize >> WORD_BITS
    if neighbours_agree(lanes, 1, scratch) or neighbours_agree(lanes, 2, scratch):
        parts >>= 1
    total, size = 0, WARP // parts
    for first in range(0, WARP, size):
        count = 0
        for lane in range(first, first + size):
            if lanes >> lane & 1:
                scratch[TOGETHER + count] = scratch[BY_LANE + lane]
                count += 1
        total += wavefronts_of(scratch[TOGETHER:], count, itemsize, scratch)
    return total


def neighbours_agree(lanes: int, bit: int, scratch: Ints) -> bool:
    """Check that each lane requests the same address as its active neighbour, whose number differs in this bit."""
    for lane in range(WARP):
        other = lane ^ bit
        if lanes >> lane & lanes >> other & 1 and scratch[BY_LANE + lane] != scratch[BY_LANE + other]:
            return False
    return True


def new_mark(scratch: Ints) -> int:
    """Empty the set; return the mark of the next numbers."""
    mark: int = scratch[LATEST] + 1
    scratch[LATEST] = mark
    return mark


def is_new(number: int, mark: int, scratch: Ints) -> bool:
    """Add a number to the set of this mark; return True if it was not there."""
    slot = (number * _MIX) >> _SHIFT & (TABLE - 1)
    while scratch[MARKS + slot] == mark:
        if scratch[slot] == number:
            return False
        slot = (slot + 1) & (TABLE - 1)
    scratch[slot], scratch[MARKS + slot] = number, mark
    return True


# Many requests at once, in NumPy


def costs_of(trace: Trace, order: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Compute (sectors, wavefronts) of each request, whose accesses are order[start[r]:start[r + 1]]."""
    sectors = np.zeros(len(start) - 1, np.int64)
    wavefronts = np.zeros_like(sectors)
    rules = rules_of(trace.buffers)
    for low in range(0, len(sectors), CHUNK):
        bounds = start[low : low + CHUNK + 1]
        rows = order[bounds[0] : bounds[-1]]
        part = slice(low, low + CHUNK)
        sectors[part], wavefronts[part] = costs_of_rows(trace, rows, bounds - bounds[0], rules)
    return sectors, wavefronts


def costs_of_rows(trace: Trace, rows: Ints, start: Ints, rules: Ints) -> tuple[Ints, Ints]:
    """Compute (sectors, wavefronts) of several requests, whose accesses are rows[start[r]:start[r + 1]]."""
    head = rows[start[:-1]]
    buffer = trace.buffer[head]
    rule = rules[buffer, RULE + trace.op[head]]
    base, unit, size = (rules[buffer, column] for column in (ADDRESS, UNIT, ITEMSIZE))
    request = np.repeat(np.arange(len(head)), np.diff(start))
    first = base[request] + trace.index[rows].astype(np.int64) * unit[request]
    last = first + size[request] - 1
    sectors = np.zeros(len(head), np.int64)
    wavefronts = np.zeros_like(sectors)
    for number, count, result in (
        (SECTORS, _sectors, sectors), (TURNS, _turns, sectors), (WAVEFRONTS, _wavefronts, wavefronts),
    ):  # fmt: skip
        wanted = rule == number
        if wanted.any():
            chosen = wanted[request]
            result += count(request[chosen], first[chosen], last[chosen], len(head))
    wide = rule == WAVEFRONTS_BY_LANE
    if wide.any():
        chosen = wide[request]
        lane = trace.thread[rows[chosen]].astype(np.int64) % WARP
        wavefronts += _wavefronts_by_lane(request[chosen], first[chosen], lane, size, len(head))
    return sectors, wavefronts


def _sectors(request: Ints, first: Ints, last: Ints, count: int) -> Ints:
    """Count the distinct sectors of each of `count` requests, from the first and last byte of each access."""
    number, _ = _distinct(request, first >> SECTOR_BITS, last >> SECTOR_BITS)
    return np.bincount(number, minlength=count)


def _turns(request: Ints, first: Ints, _last: Ints, count: int) -> Ints:
    """Count the distinct (sector, turn) of each request."""
    base = request * (int(first.max()) + 1)
    address = np.sort(base + first) - base  # still by request, and ascending in each
    turn = positions_in_group(group_starts(request, address), len(address))
    piece = address >> SECTOR_BITS << LANE_BITS | turn
    number, _ = _distinct(request, piece, piece)
    return np.bincount(number, minlength=count)


def _wavefronts(request: Ints, first: Ints, last: Ints, count: int) -> Ints:
    """Count the distinct words in the bank with the most, for each request."""
    number, word = _distinct(request, first >> WORD_BITS, last >> WORD_BITS)
    per_bank = np.bincount(number * BANKS + (word & (BANKS - 1)), minlength=count * BANKS)
    most: Ints = per_bank.reshape(count, BANKS).max(axis=1)
    return most


def _wavefronts_by_lane(request: Ints, first: Ints, lane: Ints, size: Ints, count: int) -> Ints:
    """Count the wavefronts of each request for WIDE elements; size: bytes by request."""
    part = request * MOST_PARTS + parts_of(request, first, lane, size)
    by_part = _wavefronts(part, first, first + size[request] - 1, count * MOST_PARTS)
    total: Ints = by_part.reshape(count, MOST_PARTS).sum(axis=1)
    return total


def parts_of(request: Ints, first: Ints, lane: Ints, size: Ints) -> Ints:
    """Return the part of the warp that each access belongs to: 0 if all merge, else up to MOST_PARTS - 1.

    first, lane: the first byte of each access and its lane. size: bytes of an element, by request.
    """
    shape = len(size), WARP
    address, active = np.zeros(shape, np.int64), np.zeros(shape, bool)
    address[request, lane], active[request, lane] = first, True
    agrees = np.zeros(len(size), bool)
    for bit in (1, 2):
        other = np.arange(WARP) ^ bit
        agrees |= ((address == address[:, other]) | ~(active & active[:, other])).all(axis=1)
    parts = np.where(np.isin(size, WIDE), size // WORD >> agrees, 1)
    parts_by_access: Ints = lane * parts[request] // WARP
    return parts_by_access


def passes_of(index: Ints, lane: Ints, itemsize: int) -> int:
    """Count the wavefronts of one request of these lanes, for an array that begins at a bank."""
    first, request = index * itemsize, np.zeros_like(index)
    return int(_wavefronts_by_lane(request, first, lane, np.array([itemsize]), 1)[0])


def _distinct(request: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """List each pair (request, piece) once, for the pieces first to last of each access."""
    base, extra = int(first.min()), int((last - first).max())
    span = int(last.max()) - base + 1
    key = request * span + first - base
    keys = [key] + [(key + i)[first + i <= last] for i in range(1, extra + 1)]
    pair = _sorted_once(np.concatenate(keys) if extra else key)
    return pair // span, pair % span + base


def _sorted_once(key: Ints) -> Ints:
    if not (key[1:] >= key[:-1]).all():
        key = np.sort(key)
    return key[group_starts(key)]

"""What compiled code and its driver share: a table of 64-bit words, and rows of accesses. NumPy alone."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any

import numpy as np

# The element types that the engine takes, and then those of the components of complex numbers; an index here is a code.
DTYPES = tuple(
    np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128", "float32", "float32", "float64", "float64",
    )
)  # fmt: skip
COMPONENTS_FROM = 14
CODES = {dtype: code for code, dtype in enumerate(DTYPES[:COMPONENTS_FROM])}
RECORD_CODE = len(DTYPES)  # in place of a code, for records, which are accessed field by field


def regions_of(dtype: np.dtype[Any]) -> int:
    """Return how many regions an array takes: of records one, and then those of each field."""
    fields = (dtype.fields or {}).values()
    return 1 + sum(regions_of(field[0].base) for field in fields)


# A key says what makes an access: site in the low bits, then the code of the dtype, then the region.
SITE_BITS, CODE_BITS = 16, 5
REGION_SHIFT = SITE_BITS + CODE_BITS
REGIONS = 1 << (32 - REGION_SHIFT)
SITES = 1 << SITE_BITS

# One access: index in its buffer, key, context (sweep * threads + thread), value (raw bits, up to 16 bytes).
ROW = np.dtype([("index", "<i8"), ("key", "<u4"), ("context", "<u4"), ("value", "V16")])
MAX_SWEEPS = MAX_ARRIVALS = (
    1 << 14
)  # room for sweeps and for arrivals at barriers, until the rows are emptied
ARRIVAL_WORDS = 3  # words of an arrival: context, site, accesses made until then
MAX_INDICES = 8  # that an access outside its array may have


class Word(IntEnum):
    """Indices of the words in the table of state, 8 bytes each."""

    ROW = 0  # address of the next row
    END = auto()  # address behind the last row
    BEGIN = auto()  # address of the first row
    BASE = auto()  # accesses made before the first row
    CONTEXT = auto()  # of the current thread: sweep * threads + thread
    SWEEP = auto()  # sweep * threads
    CALL = auto()  # address of the function that empties the rows, or takes an access outside its array
    POISON = auto()  # address of a poisoned element of each dtype, 16 bytes apart
    TRASH = auto()  # address where stores go that are not made
    SITE = auto()  # of the barrier or warp operation where the current thread stands
    INDEX_COUNT = auto()  # of the access outside its array
    INDICES = auto()  # address of the indices of that access
    THREAD = auto()
    TX = auto()
    TY = auto()
    TZ = auto()
    BX = auto()
    BY = auto()
    BZ = auto()
    DX = auto()
    DY = auto()
    DZ = auto()
    GX = auto()
    GY = auto()
    GZ = auto()
    COUNT = auto()  # threads to run in this sweep
    ORDER = auto()  # address of their numbers
    REASON = auto()  # address, per thread: why it stopped
    STOP_SITE = auto()  # address, per thread: the site where it stopped
    STOP_STEP = auto()  # address, per thread: accesses made when it stopped
    OUT = auto()  # address, per thread: what it brought to a barrier or warp operation
    IN = auto()  # address, per thread: what it takes from there
    MASK = auto()  # address, per thread: lanes that converge with it
    EXTRA = auto()  # address, per thread: the lane or distance of a shuffle
    FRAMES = auto()  # address of the generators
    FRAME = auto()  # bytes of one
    ARGUMENTS = auto()  # address of the arguments: of each array its address, shape and strides
    MEMORY = auto()  # address, per declared array: where it is
    SEEN = auto()  # address, per declared array: the number of its first declaration, or 0
    DECLARED = auto()  # declarations seen
    DECLARED_FROM = auto()  # region of the first declared array
    DYNAMIC = auto()  # bytes of dynamic shared memory
    TICKS = auto()  # rounds of loops until the driver is called
    LOOP = auto()  # number of the loop of which a round was counted last, from 1
    UNIFORM = auto()  # 1 where the threads to run are all that still run, and none of them waits elsewhere
    BLOCK = auto()  # linear number of the block
    PHASE = auto()
    BLOCKS_END = auto()  # number of the block before which compiled code stops going on to the next by itself
    SWEEPS = auto()  # sweeps begun since the rows were emptied
    BLOCKS = auto()  # address, per sweep: its block
    PHASES = auto()  # address, per sweep: its phase
    ARRIVED = auto()  # arrivals at barriers since the rows were emptied
    ARRIVALS = auto()  # address of these, ARRIVAL words each


class StopReason(IntEnum):
    """Why a thread stopped; from SYNCWARP on it waits for lanes of its warp."""

    DONE = 0
    BARRIER = auto()
    COUNT = auto()
    AND = auto()
    OR = auto()
    SYNCWARP = auto()
    SHUFFLE = auto()
    UP = auto()
    DOWN = auto()
    XOR = auto()
    ALL = auto()
    ANY = auto()
    EQUAL = auto()
    BALLOT = auto()
    MATCH_ANY = auto()
    MATCH_ALL = auto()
    ACTIVE = auto()


class DriverCall(IntEnum):
    """What compiled code calls its driver for, in the middle of a thread."""

    FULL = 0
    OUT_OF_BOUNDS = 1
    TICK = 2  # to let it stop a loop

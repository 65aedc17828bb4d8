"""Layouts that compiled code and its driver share: a table of 64-bit words, and rows of accesses. Needs only NumPy."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

# As Python code sees numbers and arrays of compiled code.
Number = int | np.integer[Any]
IntArray = NDArray[np.integer[Any]]
Shapes = tuple[IntArray, ...]  # of requests, see rows/request_shapes.py

# The supported element types, then those of the components of complex numbers; an index in this tuple is a code.
DTYPES = tuple(
    np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128", "float32", "float32", "float64", "float64",
    )
)  # fmt: skip
COMPONENTS_FROM = 14
CODES = {dtype: code for code, dtype in enumerate(DTYPES[:COMPONENTS_FROM])}
RECORD_CODE = len(DTYPES)  # used as the code of records, which are accessed field by field


def code_of(dtype: np.dtype[Any]) -> int | None:
    """Return the code of an element type, for dates that of their integers; None if the type is not supported."""
    is_date = dtype.kind in "mM" and dtype.isnative
    return CODES[np.dtype(np.int64)] if is_date else CODES.get(dtype)


def regions_of(dtype: np.dtype[Any]) -> int:
    """Count the regions of an array: one, and for records one more for each field."""
    fields = (dtype.fields or {}).values()
    return 1 + sum(regions_of(field[0].base) for field in fields)


# A key identifies the source of an access: site in the low bits, then the code of the dtype, then the region.
SITE_BITS, CODE_BITS = 16, 5
REGION_SHIFT = SITE_BITS + CODE_BITS
REGIONS = 1 << (32 - REGION_SHIFT)
SITES = 1 << SITE_BITS

# One access: index in its buffer, key, context (number of its block's phase * threads + thread), value (raw bits, up
# to 16 bytes).
ROW = np.dtype([("index", "<i8"), ("key", "<u4"), ("context", "<u4"), ("value", "V16")])
# Bytes of a row, and the offsets of its fields.
ROW_BYTES, KEY_AT, CONTEXT_AT, VALUE_AT = ROW.itemsize, 8, 12, 16
ROUND_AT = VALUE_AT + 8  # of a number of rounds; only complex numbers of 16 bytes leave no room for it
# Room for phases of blocks, besides those of the resident blocks, and for arrivals at barriers, until rows are emptied.
MAX_PHASES = MAX_ARRIVALS = 1 << 14
MAX_TURNS = 100_000_000  # accesses of a launch that threads may make in turns: about ten seconds
IDLE_PHASES = 4096  # phases without an access after which a block may never end
MAX_INDICES = 8  # of an access outside its array


class Word(IntEnum):
    """Indices of the words in the table of state, 8 bytes each."""

    ROW = 0  # address of the next row
    END = auto()  # address after the last row
    BEGIN = auto()  # address of the first row
    BASE = auto()  # accesses made before the first row
    CONTEXT = auto()  # of the current thread
    TURNS = auto()  # 1 if a thread's turn ends before each of its accesses
    CALL = auto()  # address of the function that calls the driver
    POISON = auto()  # address of a poisoned element of each dtype, 16 bytes apart
    SITE = auto()  # of the current thread's barrier or warp operation
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
    ARGUMENTS = auto()  # address of the arguments: of each array its address, shape and strides
    MEMORY = auto()  # address, per declared array: its address in the current block
    SEEN = auto()  # address, per declared array: the number of its first declaration, or 0
    DECLARED = auto()  # number of declarations seen
    DECLARED_FROM = auto()  # region of the first declared array
    DYNAMIC = auto()  # bytes of dynamic shared memory
    TICKS = auto()  # rounds of loops until the next call of the driver
    LOOP = auto()  # number of the loop that last counted a round, from 1

    # Switches of threads, see scheduler/stacks.py.
    ENTRY = auto()  # address of the compiled kernel
    MAIN = auto()  # address of the function at the bottom of a thread's stack
    START = auto()  # address of the code that calls it
    SWITCH = auto()  # address of the code that switches stacks
    SCHEDULER = auto()  # stack pointer of the scheduler, while a thread runs
    THREAD_SLOT = auto()  # address of the current thread's slot
    STOPPED = auto()  # the `StopReason` of the thread that stopped last
    EVENT = auto()  # the `DriverCall` of that thread
    ANSWER = auto()  # the driver's answer
    MESSAGE = auto()  # address of a text to print, or of the name of a function that recurses too deeply
    ERROR_CODE = auto()  # how the kernel ended in that thread, as Numba's status code
    ERROR = auto()  # address of the exception that it raised

    # Turns of threads, see scheduler/turns.py.
    SCHEDULE = auto()  # an `Order`
    THREADS = auto()  # of a block
    THREAD_SLOTS = auto()  # address of the slots of the resident blocks' threads, THREAD_SLOT_WORDS each
    BLOCK_SLOTS = auto()  # address of the slots of the resident blocks, BLOCK_SLOT_WORDS each
    WARPS = auto()  # address of their warps, WARP_WORDS each
    WARPS_OF_BLOCK = auto()  # number of warps in each block
    BLOCK_SLOT = auto()  # number of the current block's slot, or -1
    CAPACITY = auto()  # number of block slots
    SLOTS = auto()  # blocks that run at once
    LIVE = auto()  # address of the numbers of the used block slots, in the order in which their blocks began
    LIVE_COUNT = auto()
    RUNNABLE = auto()  # address of the numbers of the slots of runnable threads
    RUNNABLE_COUNT = auto()
    STACKS = auto()  # address of the ends of the free stacks
    STACK_COUNT = auto()
    STACK_BYTES = auto()  # of each stack
    CHOSEN = auto()  # address of the numbers of the blocks to run
    CHOSEN_COUNT = auto()
    BEGUN = auto()  # number of blocks that have begun
    FINISHED = auto()  # address of the numbers of the blocks that have ended since the driver's last turn
    FINISHED_COUNT = auto()
    PAUSE_AT = auto()  # number of ended blocks before the driver's next turn
    CHANGED = auto()  # 1 if the set of runnable threads has changed
    NEWS = auto()  # 1 if threads began, ended or met in their warp since the last sweep
    NEWS_COUNT = auto()  # number of sweeps with news; in the random schedule, turns
    IDLE_TURNS = auto()  # sweeps since the last news
    ENDED = auto()  # 1 if a block has ended in this sweep
    GRID = auto()  # 1 once a thread has come to a barrier of the grid
    HAS_CHECKED_WAITS = auto()  # 1 if the driver has checked for endless waits
    WARP_ARRIVALS = auto()  # number of arrivals at warp operations
    SEGMENTS = auto()  # address of the segments of an explicit order, SEGMENT_WORDS each; see `SegmentWord`
    SEGMENT_COUNT = auto()
    SEGMENT = auto()  # number of the current segment
    TWISTER = auto()  # address of the random number generator, see scheduler/random_numbers.py
    INITIAL_CONTENTS = (
        auto()
    )  # address, per declared array: its initial contents (0: none), and their size in bytes
    DECLARATIONS = auto()  # number of declared arrays
    NUMBER = auto()  # context of the first thread of the block and phase that began last
    NUMBERS = auto()  # number of phases that have begun since the rows were emptied
    NUMBERS_ROOM = auto()  # maximum of NUMBERS
    BLOCK = auto()  # block of the last phase
    PHASE = auto()  # the last phase
    BLOCKS = auto()  # address, per phase of a block: the block
    PHASES = auto()  # address, per phase of a block: the phase
    RESUMED = auto()  # 1 once threads have resumed in a phase after others had
    IN_WARPS = auto()  # number of threads that wait for lanes of their warp
    GROUP = auto()  # a bit for each lane of the warp operation that continues
    GROUP_MASK = auto()  # the lanes in its mask
    GROUP_SLOT = auto()  # number of the slot of the warp's first thread
    ARRIVED = auto()  # number of arrivals at barriers since the rows were emptied
    ARRIVALS = auto()  # address of these, see `ArrivalWord`; 0 if they are not needed
    # Address of the intake of rows by compiled code, see `IntakeWord`; 0 if the driver does it.
    INTAKE = auto()
    ROUND = auto()  # of the loops in which the current thread is, see rewrite/rounds.py
    ROUNDS_LOST = auto()  # 1 once a loop has had more rounds than these numbers can count


class ThreadSlot(IntEnum):
    """Indices of the words in the slot of a resident block's thread."""

    THREAD = 0
    TX = auto()
    TY = auto()
    TZ = auto()
    BLOCK_SLOT = auto()  # number of its block's slot
    STACK_POINTER = auto()  # where it resumes
    STACK = auto()  # end of its stack
    WARP = auto()  # number of its warp among those of the resident blocks
    REASON = auto()  # the `StopReason` of its last stop
    SITE = auto()  # of its last stop
    OUT = auto()  # the value that it brings to a barrier or warp operation
    IN = auto()  # the value that it takes from there
    MASK = auto()  # lanes that converge with it
    EXTRA = auto()  # the lane or distance of a shuffle
    WARP_ARRIVAL = auto()  # number of its arrival at a warp operation
    ROUND = auto()  # see Word.ROUND


INTAKE_COLUMNS = ("block", "thread", "phase", "buffer", "site", "op", "index", "value")


class ColumnWord(IntEnum):
    """Indices of the words of a column into which compiled code writes."""

    ADDRESS = 0  # of its first row
    WIDTH = auto()  # bytes of a row


class ValueKind(IntEnum):
    """The values that the column of values accepts from compiled code."""

    OWN_DTYPE = 0  # only values of its own dtype
    FLOAT64 = auto()  # also other values, as float64
    INT64 = auto()  # also other values, as int64


class IntakeWord(IntEnum):
    """Indices of the words for the intake of rows by compiled code; see rows/intake.py."""

    COUNTER = 0  # address of the function that counts rows, if none are kept
    COUNTS = auto()  # address of its argument, see `CountWord`
    LEFTOVER = auto()  # number of rows at the beginning that remain from before, of phases that continue
    KEPT = auto()  # rows in the columns
    TAKEN = auto()  # rows taken in since the driver's last look
    MAX_KEPT = auto()  # maximum of KEPT
    IN_TURNS = auto()  # 1 if threads take turns
    BUFFERS = auto()  # address of the buffer by region and code
    SITES = auto()  # address of the site of the trace by site of the program
    OPS = auto()  # address of the `Op` by site of the program
    OWN_CODES = auto()  # a bit for each code of the dtype of the column of values
    CONVERTIBLE_CODES = auto()  # bits for the codes of all dtypes whose values it holds
    KIND = auto()  # a `ValueKind`
    TOUCHED = auto()  # address of the table of touched memory, see `TouchWord`; 0 if it is not needed
    WATCHED = auto()  # address, by region and code, of the kinds of accesses to watch
    CODES = auto()  # a bit for the code of each dtype in the rows that the driver decoded last
    # First word of the combined bits of each column's numbers, in the order of `INTAKE_COLUMNS`.
    BITS = auto()


COLUMNS = IntakeWord.BITS + len(INTAKE_COLUMNS)  # first of the words of the columns, in that order
INTAKE_WORDS = COLUMNS + len(INTAKE_COLUMNS) * len(ColumnWord)


class TouchWord(IntEnum):
    """Indices of the words about the memory that rows touch; see rows/touched_memory.py."""

    PLACES = 0  # address of the marks of each place
    WHERE = auto()  # address, by region and code, of the first address, and the stride and size of elements
    WATCHED = auto()  # address, by region and code, of the kinds of accesses to watch
    SHIFT = auto()  # number of address bits within a place
    UNMARKED = auto()  # 1 if rows were counted whose touched memory could not be noted


class CountWord(IntEnum):
    """Indices of the words for counting rows; see rows/streaming_counters.py."""

    ROWS = 0  # address of the first row
    COUNT = auto()  # number of rows
    OBSTACLE = auto()  # why not all rows were counted
    OBSTACLE_END = auto()  # one past the row of the obstacle
    THREADS = auto()  # of a block
    BUFFERS = auto()  # address of the buffer by region and code
    SITES = auto()  # address of the site of the trace by site of the program
    OPS = auto()  # address of the `Op` by site of the program
    SITE_COUNT = auto()  # number of sites of the program
    RULES = auto()  # address of the rules of each buffer
    RULE_COUNT = auto()  # number of buffers
    SCRATCH = auto()  # address of the work memory of `cost_of`
    SUMS = auto()  # address of the sums
    TOUCHED = auto()  # address of the table of touched memory, see `TouchWord`; 0 if it is not needed
    WORK = auto()  # first of the addresses of the work arrays for a warp's requests


# First of the addresses of the shapes of requests, after those of the work arrays.
SHAPES = CountWord.WORK + 7
COUNT_WORDS = SHAPES + 8


class ArrivalWord(IntEnum):
    """Indices of the words of an arrival at a barrier, warp operation or fence; see `Barriers`."""

    BLOCK = 0
    THREAD = auto()
    PHASE = auto()
    SITE = auto()  # of the program
    STEP = auto()  # number of accesses made until then
    REACH = auto()
    PART = auto()
    OF_WARP = auto()  # 1 at a warp operation or a fence


class BlockSlot(IntEnum):
    """Indices of the words in the slot of a resident block."""

    BLOCK = 0
    BX = auto()
    BY = auto()
    BZ = auto()
    PHASE = auto()
    NUMBER = auto()  # context of its first thread in its phase
    MEMORY = auto()  # see Word.MEMORY
    RUNNING = auto()  # threads that have not ended
    WAITING = auto()  # threads at a barrier
    AT_GRID = auto()  # 1 if some wait for the grid
    RELEASED = auto()  # 1 if those at the barrier resume in the next sweep
    IS_USED = auto()  # 1 if a block uses the slot
    FIRST_THREAD_SLOT = auto()  # number of its first thread's slot
    VOTES = auto()  # 1 if some of those at the barrier vote


class WarpWord(IntEnum):
    """Indices of the words of a resident block's warp, each a set of lanes as bits. Ended threads are in none."""

    RUNNABLE = 0  # lanes that are runnable
    AT_BARRIER = auto()
    AT_WARP_OPERATION = auto()  # lanes that wait for other lanes of their warp


THREAD_SLOT_WORDS, BLOCK_SLOT_WORDS, WARP_WORDS = 24, 16, 4  # complete cache lines, or parts of one
TWISTER_WORDS = 624


class SegmentWord(IntEnum):
    """Indices of the words of a segment of an explicit order; see `model/order.py`."""

    BLOCK = 0  # -1 for all blocks
    FIRST = auto()  # first thread
    COUNT = auto()  # number of threads, 0 for all
    TURNS = auto()  # maximum number of rounds, 0 for any
    BARRIER = auto()  # maximum of the phase, -1 for any
    ROUNDS = auto()  # rounds with an access so far
    END = auto()  # number of accesses of the launch at its end


SEGMENT_WORDS = 8


class Order(IntEnum):
    """The schedules of threads."""

    SEQUENTIAL = 0
    LOCKSTEP = auto()
    RANDOM = auto()
    EXPLICIT = auto()


class Pause(IntEnum):
    """The reasons for which the scheduler gives the driver its turn."""

    OVER = 0  # all blocks have ended
    BLOCK_ENDED = auto()
    CHECK_WAITS = auto()  # threads may wait for ever
    BAD_ORDER = auto()  # the threads of an explicit order's segment can't go on
    NO_BLOCK_SLOT = auto()  # more blocks have to run at once than there are slots


class StopReason(IntEnum):
    """The reasons for which a thread stops: up to GRID barriers, from SYNCWARP on warp operations, below 0 neither."""

    FENCE = -4
    RAISED = -3
    CALL = -2  # to call the driver
    ACCESS = -1
    DONE = 0
    BARRIER = 1
    COUNT = 2
    AND = 3
    OR = 4
    GRID = 5
    SYNCWARP = 6
    SHUFFLE = 7
    UP = 8
    DOWN = 9
    XOR = 10
    ALL = 11
    ANY = 12
    EQUAL = 13
    BALLOT = 14
    MATCH_ANY = 15
    MATCH_ALL = 16
    ACTIVE = 17


class DriverCall(IntEnum):
    """The reasons for which compiled code calls its driver."""

    FULL = 0
    OUT_OF_BOUNDS = 1
    TICK = 2  # so that it can stop a loop
    NUMBERS = 3  # there is no room for another phase
    ARRIVALS = 4  # there is no room for another arrival
    MASK_FAULT = 5  # a warp operation continues with other lanes than its mask names, or from several sites
    PRINT = 6  # see runtime/printing.py
    TOO_DEEP = 7  # a function recurses too deeply for its stack

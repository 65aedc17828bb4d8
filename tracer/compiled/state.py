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


def code_of(dtype: np.dtype[Any]) -> int | None:
    """Return the code of an element type, that of dates being the one of the numbers that they are; None for others."""
    is_date = dtype.kind in "mM" and dtype.isnative
    return CODES[np.dtype(np.int64)] if is_date else CODES.get(dtype)


def regions_of(dtype: np.dtype[Any]) -> int:
    """Return how many regions an array takes: of records one, and then those of each field."""
    fields = (dtype.fields or {}).values()
    return 1 + sum(regions_of(field[0].base) for field in fields)


# A key says what makes an access: site in the low bits, then the code of the dtype, then the region.
SITE_BITS, CODE_BITS = 16, 5
REGION_SHIFT = SITE_BITS + CODE_BITS
REGIONS = 1 << (32 - REGION_SHIFT)
SITES = 1 << SITE_BITS

# One access: index in its buffer, key, context (number of its phase of a block * threads + thread), value (raw bits, up
# to 16 bytes).
ROW = np.dtype([("index", "<i8"), ("key", "<u4"), ("context", "<u4"), ("value", "V16")])
ROW_BYTES, KEY_AT, CONTEXT_AT, VALUE_AT = (
    ROW.itemsize,
    8,
    12,
    16,
)  # bytes of a row, and where in it these begin
# Room for phases of blocks, besides those of the resident ones, and for arrivals at barriers, until rows are emptied.
MAX_PHASES = MAX_ARRIVALS = 1 << 14
MOST_TURNS = 100_000_000  # accesses of a launch that are made in turns: in some ten seconds
IDLE_PHASES = 4096  # phases without an access after which a block may never end
MAX_INDICES = 8  # that an access outside its array may have


class Word(IntEnum):
    """Indices of the words in the table of state, 8 bytes each."""

    ROW = 0  # address of the next row
    END = auto()  # address behind the last row
    BEGIN = auto()  # address of the first row
    BASE = auto()  # accesses made before the first row
    CONTEXT = auto()  # of the current thread
    TURNS = auto()  # 1 where a thread's turn ends before each of its accesses
    CALL = auto()  # address of the function by which the driver is called
    POISON = auto()  # address of a poisoned element of each dtype, 16 bytes apart
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
    ARGUMENTS = auto()  # address of the arguments: of each array its address, shape and strides
    MEMORY = auto()  # address, per declared array: where the current block's is
    SEEN = auto()  # address, per declared array: the number of its first declaration, or 0
    DECLARED = auto()  # declarations seen
    DECLARED_FROM = auto()  # region of the first declared array
    DYNAMIC = auto()  # bytes of dynamic shared memory
    TICKS = auto()  # rounds of loops until the driver is called
    LOOP = auto()  # number of the loop of which a round was counted last, from 1

    # How threads stop and go on, see scheduler/stacks.py.
    ENTRY = auto()  # address of the compiled kernel
    MAIN = auto()  # address of the function that a thread's stack begins with
    START = auto()  # address of the code that calls it
    SWITCH = auto()  # address of the code that goes from one stack to another
    SCHEDULER = auto()  # stack pointer of the scheduler, while a thread runs
    PLACE = auto()  # address of the current thread's words
    STOPPED = auto()  # the `StopReason` of the thread that stopped last
    EVENT = auto()  # the `DriverCall` that it wants
    ANSWER = auto()  # what that returned
    MESSAGE = (
        auto()
    )  # address of what it wants to be printed, or of the name of a function that calls itself too often
    ERROR_CODE = auto()  # how the kernel ended in it, as Numba has it
    ERROR = auto()  # address of what it raised

    # Whose turn it is, see scheduler/turns.py.
    SCHEDULE = auto()  # a `Order`
    THREADS = auto()  # of a block
    PLACES = auto()  # address of the threads of the resident blocks, PLACE_WORDS each
    SEATS = auto()  # address of the resident blocks, SEAT_WORDS each
    WARPS = auto()  # address of their warps, WARP_WORDS each
    WARPS_OF_BLOCK = auto()  # how many each block has
    SEAT = auto()  # number of the current thread's block among these, or -1
    CAPACITY = auto()  # resident blocks for which there is room
    SLOTS = auto()  # blocks that run at once
    LIVE = auto()  # address of the numbers of the seats that blocks have, as they began
    LIVE_COUNT = auto()
    RUNNABLE = auto()  # address of the numbers of the places whose threads have turns
    RUNNABLE_COUNT = auto()
    STACKS = auto()  # address of the ends of the stacks that no thread has
    STACK_COUNT = auto()
    STACK_BYTES = auto()  # of each
    CHOSEN = auto()  # address of the numbers of the blocks that run
    CHOSEN_COUNT = auto()
    BEGUN = auto()  # how many have begun
    FINISHED = auto()  # address of the blocks that have ended since the driver looked
    FINISHED_COUNT = auto()
    PAUSE_AT = auto()  # how many of these there are before the driver has its turn
    CHANGED = auto()  # 1 where other threads can have turns than before
    NEWS = auto()  # 1 where threads began, ended or met in their warp since the last sweep
    NEWS_COUNT = auto()  # sweeps with news; under random, turns
    IDLE_TURNS = auto()  # sweeps since the last of these
    ENDED = auto()  # 1 where a block has ended in this sweep
    GRID = auto()  # 1 once a thread has come to a barrier of the grid
    AFTER_LOOK = auto()  # 1 where the driver has looked whether threads wait for ever
    CAME = auto()  # arrivals at warp operations
    TWISTER = auto()  # address of what makes random numbers, see scheduler/random_numbers.py
    FRESH = (
        auto()
    )  # address, per declared array: what it holds when a block begins (0: what it held), and its bytes
    DECLARATIONS = auto()  # declared arrays
    NUMBER = auto()  # context of the first thread of the block and phase that began last
    NUMBERS = auto()  # phases of blocks that have begun since the rows were emptied
    NUMBERS_ROOM = auto()  # and how many there is room for
    BLOCK = auto()  # of these, the last one's block
    PHASE = auto()  # and phase
    BLOCKS = auto()  # address, per phase of a block: the block
    PHASES = auto()  # address, per phase of a block: the phase
    RESUMED = auto()  # 1 once threads have gone on, in a phase, after others had
    IN_WARPS = auto()  # threads that wait for lanes of their warp
    GROUP = auto()  # a bit for each lane of the warp operation that goes on
    GROUP_MASK = auto()  # the lanes that it names
    GROUP_PLACE = auto()  # number of the place of the warp's first thread
    ARRIVED = auto()  # arrivals at barriers since the rows were emptied
    ARRIVALS = auto()  # address of these, see `ArrivalWord`; 0 where nobody asks for them
    INTAKE = (
        auto()
    )  # address of what compiled code takes in rows by, see `IntakeWord`; 0 where the driver does


class PlaceWord(IntEnum):
    """Indices of the words of a thread of a resident block."""

    THREAD = 0
    TX = auto()
    TY = auto()
    TZ = auto()
    SEAT = auto()  # number of its block's
    STACK_POINTER = auto()  # where it goes on
    STACK = auto()  # end of its stack
    WARP = auto()  # number of its warp among those of the resident blocks
    REASON = auto()  # the `StopReason` for which it stopped last
    SITE = auto()  # where that was
    OUT = auto()  # what it brought to a barrier or warp operation
    IN = auto()  # what it takes from there
    MASK = auto()  # lanes that converge with it
    EXTRA = auto()  # the lane or distance of a shuffle
    CAME = auto()  # the number of its arrival at a warp operation


INTAKE_COLUMNS = ("block", "thread", "phase", "buffer", "site", "op", "index", "value")


class ColumnWord(IntEnum):
    """Indices of the words of a column into which compiled code writes."""

    ADDRESS = 0  # of its first row
    WIDTH = auto()  # bytes of a row


class ValueKind(IntEnum):
    """What the column of values takes from compiled code."""

    SAME = 0  # values of its own dtype alone
    FLOAT64 = auto()  # others too, as float64
    INT64 = auto()  # others too, as int64


class IntakeWord(IntEnum):
    """Indices of the words by which compiled code takes in rows itself; see rows/intake.py."""

    COUNTER = 0  # address of the function that counts rows, where none are kept
    COUNTS = auto()  # address of what that is told, see `CountWord`
    LEFT = auto()  # rows from before, of phases that are not over, with which the rows begin then
    KEPT = auto()  # rows in the columns
    TAKEN = auto()  # rows taken in since the driver has looked
    MOST = auto()  # rows up to which it may
    IN_TURNS = auto()  # 1 where threads take turns
    BUFFERS = auto()  # address of the buffer by region and code
    SITES = auto()  # address of the site of the trace by site of the program
    OPS = auto()  # address of the `Op` by that
    SAME = auto()  # a bit for the code of the dtype of the column of values
    HELD = auto()  # bits for the codes of all dtypes that it holds
    KIND = auto()  # a `ValueKind`
    TOUCHED = auto()  # address of what notes which memory rows touch, see `TouchWord`; 0: nobody asks
    WATCHED = auto()  # address, by region and code, of the kinds of accesses that are looked at for that
    CODES = auto()  # a bit for the code of each dtype of the rows that the driver has had decoded last
    BITS = (
        auto()
    )  # first of the bits that any of their numbers has, by column, in the order of `INTAKE_COLUMNS`


COLUMNS = IntakeWord.BITS + len(INTAKE_COLUMNS)  # first of the words of the columns, in that order
INTAKE_WORDS = COLUMNS + len(INTAKE_COLUMNS) * len(ColumnWord)


class TouchWord(IntEnum):
    """Indices of the words by which it is noted what memory rows touch; see rows/touched.py."""

    PLACES = 0  # address of what is known of each place
    WHERE = auto()  # address, by region and code, of where it begins, and its elements' distance and size
    WATCHED = auto()  # address, by region and code, of the kinds of accesses that are looked at
    SHIFT = auto()  # bits of an address within a place
    UNMARKED = auto()  # 1 where rows were counted of which it could not be noted what they touch


class CountWord(IntEnum):
    """Indices of the words by which rows are counted; see rows/streaming_counters.py."""

    ROWS = 0  # address of the first row
    COUNT = auto()  # how many there are
    HINDERED = auto()  # why not all have been counted
    HINDERED_AT = auto()  # one past the row where
    THREADS = auto()  # of a block
    BUFFERS = auto()  # address of the buffer by region and code
    FINAL = auto()  # address of the site of the trace by site of the program
    OPS = auto()  # address of the `Op` by that
    SITE_COUNT = auto()  # sites of the program
    RULES = auto()  # address of what holds for each buffer
    RULE_COUNT = auto()  # buffers
    SCRATCH = auto()  # address of what `cost_of` works with
    SUMS = auto()  # address of the sums
    TOUCHED = auto()  # address of what notes which memory rows touch, see `TouchWord`; 0: nobody asks
    WORK = auto()  # first of the addresses of what a warp's requests are put together in


SHAPES = (
    CountWord.WORK + 7
)  # first of the addresses of the shapes of requests, behind those of what they are made in
COUNT_WORDS = SHAPES + 8


class ArrivalWord(IntEnum):
    """Indices of the words of an arrival at a barrier, warp operation or fence; see `Barriers`."""

    BLOCK = 0
    THREAD = auto()
    PHASE = auto()
    SITE = auto()  # of the program
    STEP = auto()  # accesses made until then
    REACH = auto()
    PART = auto()
    OF_WARP = auto()  # 1 at a warp operation or a fence


class SeatWord(IntEnum):
    """Indices of the words of a resident block."""

    BLOCK = 0
    BX = auto()
    BY = auto()
    BZ = auto()
    PHASE = auto()
    NUMBER = auto()  # context of its first thread in its phase
    MEMORY = auto()  # see Word.MEMORY
    RUNNING = auto()  # threads that have not ended
    WAITING = auto()  # threads at a barrier
    AT_GRID = auto()  # 1 where some wait for the whole grid
    RELEASED = auto()  # 1 where those at the barrier go on from the next sweep on
    TAKEN = auto()  # 1 where a block has it
    FIRST = auto()  # number of its first thread's place
    VOTES = auto()  # 1 where some of those at the barrier vote


class WarpWord(IntEnum):
    """Indices of the words of a resident block's warp; each has a bit for each lane. Who is in none has ended."""

    RUNS = 0  # has turns
    AT_BARRIER = auto()
    MEETS = auto()  # waits for lanes of its warp


PLACE_WORDS, SEAT_WORDS, WARP_WORDS = 24, 16, 4  # whole lines of a cache, or parts of one
TWISTER_WORDS = 624


class Order(IntEnum):
    """The schedules."""

    SEQUENTIAL = 0
    LOCKSTEP = auto()
    RANDOM = auto()


class Pause(IntEnum):
    """Why the scheduler gives the driver its turn."""

    OVER = 0  # all blocks have ended
    BLOCK_ENDED = auto()
    LOOK = auto()  # threads may wait for ever
    NO_SEAT = auto()  # more blocks have to run at once than there is room for


class StopReason(IntEnum):
    """Why a thread stopped; up to GRID at a barrier, from SYNCWARP on for lanes of its warp, below 0 for neither."""

    FENCE = -4
    RAISED = -3
    CALL = -2  # to let the driver do something
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
    """What compiled code calls its driver for."""

    FULL = 0
    OUT_OF_BOUNDS = 1
    TICK = 2  # to let it stop a loop
    NUMBERS = 3  # there is no room for another phase
    ARRIVALS = 4  # there is no room for another arrival
    MASK_FAULT = 5  # a warp operation goes on with other lanes than its mask names, or from several sites
    PRINT = 6  # see runtime/printing.py
    TOO_DEEP = 7  # a function calls itself more often than there is room for on a stack

"""The functions that a marked kernel calls to note its accesses, for Numba's CUDA target.

A thread's notes are rows of WORDS 64-bit words in its own region; notes without room are counted and dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import cuda
from numba.core import types
from numba.core.errors import TypingError
from numba.cuda import cgutils
from numba.cuda.extending import intrinsic, overload

from ...compiled.runtime.atomics import ATOMIC_UPDATES
from ...model.trace import FENCE, FENCE_BLOCK, VOTED_NO, VOTED_YES
from ..marks.intrinsics import clock, multiprocessor, timer
from .notes import (
    AFTER,
    BASE,
    BEFORE,
    COUNT,
    DECLARED_FROM,
    FIRST,
    INSTANCES,
    MULTIPROCESSOR,
    OLD,
    PLACE,
    SITE,
    TIMER,
    VALUE,
)

I64 = ir.IntType(64)
TOO_WIDE = "an element of it takes more than the 8 bytes that a note has room for"
COPIES = "it copies an array to a part of another one"


@intrinsic
def place(typingctx: Any, array: Any, index: Any) -> Any:
    """Return the addresses of an array and of one of its elements; negative indices wrap once."""
    parts = tuple(index) if isinstance(index, types.BaseTuple) else (index,)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = context.make_array(array)(context, builder, args[0])
        values = cgutils.unpack_tuple(builder, args[1]) if isinstance(index, types.BaseTuple) else [args[1]]
        base = builder.ptrtoint(held.data, I64)
        address = base
        lengths, strides = (cgutils.unpack_tuple(builder, part) for part in (held.shape, held.strides))
        for kind, value, length, stride in zip(parts, values, lengths, strides, strict=True):
            number = context.cast(builder, value, kind, types.int64)
            if not isinstance(kind, types.Integer) or kind.signed:
                negative = builder.icmp_signed("<", number, ir.Constant(I64, 0))
                number = builder.select(negative, builder.add(number, length), number)
            address = builder.add(address, builder.mul(number, stride))
        return cgutils.pack_array(builder, [base, address])

    return types.UniTuple(types.uint64, 2)(array, index), generate


@intrinsic
def begins(typingctx: Any, array: Any) -> Any:
    """Return the address of an array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(context.make_array(array)(context, builder, args[0]).data, I64)

    return types.uint64(array), generate


@intrinsic
def bits(typingctx: Any, value: Any) -> Any:
    """Return the bits of a number of up to 8 bytes."""
    if not isinstance(value, types.Number | types.Boolean) or value == types.complex128:
        raise TypingError(TOO_WIDE)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(value, types.Complex):
            halves = [_as_64_bits(builder, builder.extract_value(args[0], part)) for part in range(2)]
            return builder.or_(halves[0], builder.shl(halves[1], ir.Constant(I64, 32)))
        return _as_64_bits(builder, args[0])

    return types.uint64(value), generate


def _as_64_bits(builder: Any, value: Any) -> Any:
    """Return a value's bits as a 64-bit number."""
    widths = {ir.HalfType: 16, ir.FloatType: 32, ir.DoubleType: 64}
    if type(value.type) in widths:
        value = builder.bitcast(value, ir.IntType(widths[type(value.type)]))
    return value if value.type.width == 64 else builder.zext(value, I64)


device = cuda.jit(device=True)


@device
def thread() -> Any:
    """Return the linear number of the thread in its block."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    return (cuda.threadIdx.z * cuda.blockDim.y + y) * cuda.blockDim.x + x


@device
def number() -> Any:
    """Return the linear number of the thread in the grid, block after block."""
    x, y = cuda.blockIdx.x, cuda.blockIdx.y
    block = (cuda.blockIdx.z * cuda.gridDim.y + y) * cuda.gridDim.x + x
    return block * (cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z) + thread()


@device
def begin(head: Any) -> None:
    """Write the multiprocessor of a thread, and its first clock."""
    head[MULTIPROCESSOR] = multiprocessor()
    head[FIRST] = clock()


@device
def end(head: Any, counter: Any) -> None:
    """Write the number of a thread's notes."""
    head[COUNT] = counter[0]


@device
def write(state: Any, site: Any, where: Any, before: Any, value: Any, old: Any) -> int:
    """Write a note and return its row; the clock after the access is read when the value has arrived."""
    rows, _, counter = state
    row = counter[0]
    counter[0] = row + 1
    if row < rows.shape[0]:
        rows[row, VALUE] = value
        rows[row, OLD] = old
        rows[row, AFTER] = clock()
        rows[row, TIMER] = timer()
        rows[row, BEFORE] = before
        rows[row, SITE] = site
        rows[row, BASE] = where[0]
        rows[row, PLACE] = where[1]
    return row


@device
def write_wait(state: Any, site: Any, reach: Any, part: Any) -> int:
    """Write a note of a thread's arrival at a barrier or warp operation, and return its row."""
    return write(state, site, (0, 0), clock(), reach, part)


@device
def write_continuation(state: Any, row: int) -> None:
    """Write the time at which a thread continues after a barrier or warp operation."""
    rows = state[0]
    if row < rows.shape[0]:
        rows[row, AFTER] = clock()


def _is_element(array: Any, index: Any) -> bool:
    parts = tuple(index) if isinstance(index, types.BaseTuple) else (index,)
    return len(parts) == array.ndim and all(isinstance(part, types.Integer | types.Float) for part in parts)


def here(state: Any, number: int, array: Any) -> Any:
    """Return a declared array, and note its address."""
    raise NotImplementedError


def load(state: Any, array: Any, index: Any, site: int) -> Any:
    """Load an element and note it; tuples and views are only indexed."""
    raise NotImplementedError


def store(state: Any, value: Any, array: Any, index: Any, site: int) -> None:
    """Store a value to an element, or to all elements of a one-dimensional view, and note it."""
    raise NotImplementedError


@overload(here)
def _here(state: Any, number: Any, array: Any) -> Any:
    def implement(state: Any, number: Any, array: Any) -> Any:
        head, begin = state[1], begins(array)
        slot = DECLARED_FROM + INSTANCES * number
        last = slot + INSTANCES - 1
        while slot < last and head[slot] != 0 and head[slot] != begin:
            slot += 1
        head[slot] = begin
        return array

    return implement


@overload(load, inline="always")
def _load(state: Any, array: Any, index: Any, site: Any) -> Any:
    if not isinstance(array, types.Array) or not _is_element(array, index):

        def take(state: Any, array: Any, index: Any, site: Any) -> Any:
            return array[index]

        return take

    def implement(state: Any, array: Any, index: Any, site: Any) -> Any:
        where = place(array, index)
        before = clock()
        value = array[index]
        write(state, site, where, before, bits(value), 0)
        return value

    return implement


@overload(store)
def _store(state: Any, value: Any, array: Any, index: Any, site: Any) -> Any:
    if not isinstance(array, types.Array):
        return None
    if not _is_element(array, index):
        return _fill(value)
    cast = array.dtype if isinstance(array.dtype, types.Number) else bool

    def implement(state: Any, value: Any, array: Any, index: Any, site: Any) -> None:
        where = place(array, index)
        kept = cast(value)
        before = clock()
        array[index] = kept
        write(state, site, where, before, bits(kept), 0)

    return implement


def _fill(value: Any) -> Any:
    if not isinstance(value, types.Number | types.Boolean):
        raise TypingError(COPIES)

    def implement(state: Any, value: Any, array: Any, index: Any, site: Any) -> None:
        part = array[index]
        for i in range(part.shape[0]):
            store(state, value, part, i, site)

    return implement


# Numba recognises the operations only by these paths.
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda array, index, value: cuda.atomic.add(array, index, value),
    "sub": lambda array, index, value: cuda.atomic.sub(array, index, value),
    "and_": lambda array, index, value: cuda.atomic.and_(array, index, value),
    "or_": lambda array, index, value: cuda.atomic.or_(array, index, value),
    "xor": lambda array, index, value: cuda.atomic.xor(array, index, value),
    "inc": lambda array, index, value: cuda.atomic.inc(array, index, value),
    "dec": lambda array, index, value: cuda.atomic.dec(array, index, value),
    "exch": lambda array, index, value: cuda.atomic.exch(array, index, value),
    "max": lambda array, index, value: cuda.atomic.max(array, index, value),
    "min": lambda array, index, value: cuda.atomic.min(array, index, value),
    "nanmax": lambda array, index, value: cuda.atomic.nanmax(array, index, value),
    "nanmin": lambda array, index, value: cuda.atomic.nanmin(array, index, value),
}


def _update(name: str) -> Callable[..., Any]:
    """Create the function for an atomic operation with a note: (state, array, index, value, site) -> old value."""
    operation, change = device(OPERATIONS[name]), device(ATOMIC_UPDATES[name])

    def update(state: Any, array: Any, index: Any, value: Any, site: int) -> Any:
        raise NotImplementedError

    def typed(state: Any, array: Any, index: Any, value: Any, site: Any) -> Any:
        if not isinstance(array, types.Array) or not _is_element(array, index):
            return None
        cast = array.dtype

        def implement(state: Any, array: Any, index: Any, value: Any, site: Any) -> Any:
            where = place(array, index)
            before = clock()
            old = operation(array, index, value)
            left = cast(change(old, cast(value)))
            write(state, site, where, before, bits(left), bits(old))
            return old

        return implement

    overload(update)(typed)
    return update


def cas(state: Any, array: Any, index: Any, expected: Any, value: Any, site: int) -> Any:
    """Replace an element that equals `expected`, note that, and return its old value."""
    raise NotImplementedError


@overload(cas)
def _cas(state: Any, array: Any, index: Any, expected: Any, value: Any, site: Any) -> Any:
    cast = array.dtype

    def implement(state: Any, array: Any, index: Any, expected: Any, value: Any, site: Any) -> Any:
        where = place(array, index)
        before = clock()
        old = cuda.atomic.cas(array, index, expected, value)
        left = cast(value) if old == cast(expected) else old
        write(state, site, where, before, bits(left), bits(old))
        return old

    return implement


@device
def wait_barrier(state: Any, site: int) -> None:
    row = write_wait(state, site, 0, 0)
    cuda.syncthreads()
    write_continuation(state, row)


@device
def wait_count(state: Any, value: Any, site: int) -> Any:
    row = write_wait(state, site, 0, 0)
    counted = cuda.syncthreads_count(value)
    write_continuation(state, row)
    return counted


@device
def wait_and(state: Any, value: Any, site: int) -> Any:
    row = write_wait(state, site, 0, 0)
    result = cuda.syncthreads_and(value)
    write_continuation(state, row)
    return result


@device
def wait_or(state: Any, value: Any, site: int) -> Any:
    row = write_wait(state, site, 0, 0)
    result = cuda.syncthreads_or(value)
    write_continuation(state, row)
    return result


@device
def wait_fence(state: Any, site: int) -> None:
    row = write_wait(state, site, FENCE, 0)
    cuda.threadfence()
    write_continuation(state, row)


@device
def wait_block_fence(state: Any, site: int) -> None:
    row = write_wait(state, site, FENCE_BLOCK, 0)
    cuda.threadfence_block()
    write_continuation(state, row)


@device
def wait_syncwarp(state: Any, mask: Any, site: int) -> None:
    row = write_wait(state, site, mask, 0)
    cuda.syncwarp(mask)
    write_continuation(state, row)


@device
def wait_shuffle(state: Any, mask: Any, value: Any, lane: Any, site: int) -> Any:
    row = write_wait(state, site, 0, 1 + (lane & 31))
    given = cuda.shfl_sync(mask, value, lane)
    write_continuation(state, row)
    return given


@device
def wait_up(state: Any, mask: Any, value: Any, delta: Any, site: int) -> Any:
    lane = cuda.laneid
    row = write_wait(state, site, 0, 1 + (lane - delta if lane >= delta else lane))
    given = cuda.shfl_up_sync(mask, value, delta)
    write_continuation(state, row)
    return given


@device
def wait_down(state: Any, mask: Any, value: Any, delta: Any, site: int) -> Any:
    lane = cuda.laneid
    row = write_wait(state, site, 0, 1 + (lane + delta if lane + delta < 32 else lane))
    given = cuda.shfl_down_sync(mask, value, delta)
    write_continuation(state, row)
    return given


@device
def wait_xor(state: Any, mask: Any, value: Any, lanes: Any, site: int) -> Any:
    row = write_wait(state, site, 0, 1 + ((cuda.laneid ^ lanes) & 31))
    given = cuda.shfl_xor_sync(mask, value, lanes)
    write_continuation(state, row)
    return given


@device
def wait_all(state: Any, mask: Any, vote: Any, site: int) -> Any:
    row = write_wait(state, site, 0, VOTED_YES if vote else VOTED_NO)
    result = cuda.all_sync(mask, vote)
    write_continuation(state, row)
    return result


@device
def wait_any(state: Any, mask: Any, vote: Any, site: int) -> Any:
    row = write_wait(state, site, 0, VOTED_YES if vote else VOTED_NO)
    result = cuda.any_sync(mask, vote)
    write_continuation(state, row)
    return result


@device
def wait_equal(state: Any, mask: Any, vote: Any, site: int) -> Any:
    row = write_wait(state, site, 0, VOTED_YES if vote else VOTED_NO)
    result = cuda.eq_sync(mask, vote)
    write_continuation(state, row)
    return result


@device
def wait_ballot(state: Any, mask: Any, vote: Any, site: int) -> Any:
    row = write_wait(state, site, 0, VOTED_YES if vote else VOTED_NO)
    result = cuda.ballot_sync(mask, vote)
    write_continuation(state, row)
    return result


@device
def is_true(value: Any) -> bool:
    return value != 0


WAITS = {
    f"_ts_{function.__name__}": function
    for function in (
        wait_barrier, wait_count, wait_and, wait_or, wait_fence, wait_block_fence, wait_syncwarp, wait_shuffle, wait_up,
        wait_down, wait_xor, wait_all, wait_any, wait_equal, wait_ballot, is_true,
    )
}  # fmt: skip
NAMES: dict[str, Any] = {
    "_ts_cuda": cuda, "_ts_int64": types.int64, "_ts_number": number, "_ts_thread": thread,
    "_ts_begin": begin, "_ts_end": end, "_ts_here": here, "_ts_load": load, "_ts_store": store, "_ts_cas": cas,
}  # fmt: skip
NAMES |= WAITS | {f"_ts_{name}": _update(name) for name in OPERATIONS}
NAMES |= {
    f"_ts_type_{name}": getattr(types, name)
    for name in ("float16", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
}

"""The usual barrier, and the end of a block: where all threads have come to it, compiled code goes on by itself."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.extending import intrinsic

from ..cached import cached
from ..state import ARRIVAL_WORDS, MAX_ARRIVALS, MAX_SWEEPS, StopReason, Word
from .cell_type import I64, at


def _peek(typing: Any, address: Any, index: Any) -> Any:
    """Load the 64-bit word at an index of the table at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(at(builder, args[0], I64, args[1]))

    return types.int64(types.int64, types.int64), generate


def _poke(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Store a 64-bit word to an index of the table at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], at(builder, args[0], I64, args[1]))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


peek, poke = intrinsic(_peek), intrinsic(_poke)
# Numba takes plain numbers from a module.
_UNIFORM, _COUNT, _ORDER = int(Word.UNIFORM), int(Word.COUNT), int(Word.ORDER)
_REASON, _STOP_SITE, _STOP_STEP = int(Word.REASON), int(Word.STOP_SITE), int(Word.STOP_STEP)
_SWEEP, _SWEEPS, _BLOCK, _PHASE = int(Word.SWEEP), int(Word.SWEEPS), int(Word.BLOCK), int(Word.PHASE)
_ARRIVED, _ARRIVALS, _BLOCKS, _PHASES = (
    int(Word.ARRIVED),
    int(Word.ARRIVALS),
    int(Word.BLOCKS),
    int(Word.PHASES),
)
_DX, _DY, _DZ = int(Word.DX), int(Word.DY), int(Word.DZ)
_BX, _BY, _BZ, _GX, _GY = int(Word.BX), int(Word.BY), int(Word.BZ), int(Word.GX), int(Word.GY)
_BLOCKS_END = int(Word.BLOCKS_END)
_DONE, _BARRIER = int(StopReason.DONE), int(StopReason.BARRIER)
STOP, BEGIN, RESUME = (
    0,
    1,
    2,
)  # what comes next: the driver's turn, threads from their start on, or from where they are


def _begin_sweep_of(state: Any, number: Any, phase: Any) -> None:
    """Begin a sweep over the threads of the block under way in a phase."""
    poke(state, _PHASE, phase)
    poke(peek(state, _BLOCKS), number, peek(state, _BLOCK))
    poke(peek(state, _PHASES), number, phase)
    poke(state, _SWEEPS, number + 1)
    poke(state, _SWEEP, number * peek(state, _DX) * peek(state, _DY) * peek(state, _DZ))


_begin_sweep = cached(_begin_sweep_of)


def _next_phase_of(state: Any, number: Any) -> Any:
    """Note that all threads have come to a barrier, and begin the next phase."""
    count, order, arrived = peek(state, _COUNT), peek(state, _ORDER), peek(state, _ARRIVED)
    if arrived + count > MAX_ARRIVALS:
        return STOP
    arrivals = peek(state, _ARRIVALS)
    for i in range(count):
        thread, at = peek(order, i), ARRIVAL_WORDS * (arrived + i)
        poke(arrivals, at, peek(state, _SWEEP) + thread)
        poke(arrivals, at + 1, peek(peek(state, _STOP_SITE), thread))
        poke(arrivals, at + 2, peek(peek(state, _STOP_STEP), thread))
    poke(state, _ARRIVED, arrived + count)
    _begin_sweep(state, number, peek(state, _PHASE) + 1)
    return RESUME


def _next_block_of(state: Any, number: Any) -> Any:
    """Begin the next block with all of its threads, unless the driver wants its turn before that."""
    block = peek(state, _BLOCK) + 1
    if block >= peek(state, _BLOCKS_END):
        return STOP
    poke(state, _BLOCK, block)
    width, height = peek(state, _GX), peek(state, _GY)
    poke(state, _BX, block % width)
    poke(state, _BY, block // width % height)
    poke(state, _BZ, block // width // height)
    threads, order = peek(state, _DX) * peek(state, _DY) * peek(state, _DZ), peek(state, _ORDER)
    for i in range(threads):
        poke(order, i, i)
    poke(state, _COUNT, threads)
    _begin_sweep(state, number, 0)
    return BEGIN


_next_phase, _next_block = cached(_next_phase_of), cached(_next_block_of)


def _goes_on(state: Any) -> Any:
    """Begin the next phase of a block, or the next block, where nothing else is to be decided and noted.

    That is: every thread that still runs waits at a barrier without a vote, or has come to its end, and there is room
    to note that. Returns STOP, BEGIN or RESUME.
    """
    count, order, reasons = peek(state, _COUNT), peek(state, _ORDER), peek(state, _REASON)
    number = peek(state, _SWEEPS)
    if peek(state, _UNIFORM) == 0 or count == 0 or number >= MAX_SWEEPS - 1:
        return STOP
    reason = peek(reasons, peek(order, 0))
    for i in range(count):
        if peek(reasons, peek(order, i)) != reason:
            return STOP
    if reason == _DONE:
        return _next_block(state, number)
    return _next_phase(state, number) if reason == _BARRIER else STOP


goes_on = cached(_goes_on)

"""The usual barrier: where all threads of a block that still run have come to it, compiled code goes on by itself."""

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
_BARRIER = int(StopReason.BARRIER)


def _goes_on(state: Any) -> Any:
    """Begin the next phase of a block and return True where nothing else is to be decided and noted.

    That is: every thread that still runs waits at a barrier without a vote, and there is room to note that.
    """
    count, order, reasons = peek(state, _COUNT), peek(state, _ORDER), peek(state, _REASON)
    if peek(state, _UNIFORM) == 0:
        return False
    for i in range(count):
        if peek(reasons, peek(order, i)) != _BARRIER:
            return False
    number, arrived = peek(state, _SWEEPS), peek(state, _ARRIVED)
    if number >= MAX_SWEEPS - 1 or arrived + count > MAX_ARRIVALS:
        return False
    arrivals = peek(state, _ARRIVALS)
    for i in range(count):
        thread, at = peek(order, i), ARRIVAL_WORDS * (arrived + i)
        poke(arrivals, at, peek(state, _SWEEP) + thread)
        poke(arrivals, at + 1, peek(peek(state, _STOP_SITE), thread))
        poke(arrivals, at + 2, peek(peek(state, _STOP_STEP), thread))
    poke(state, _ARRIVED, arrived + count)
    phase = peek(state, _PHASE) + 1
    poke(state, _PHASE, phase)
    poke(peek(state, _BLOCKS), number, peek(state, _BLOCK))
    poke(peek(state, _PHASES), number, phase)
    poke(state, _SWEEPS, number + 1)
    poke(state, _SWEEP, number * peek(state, _DX) * peek(state, _DY) * peek(state, _DZ))
    return True


goes_on = cached(_goes_on)

"""Loops that let the driver have its turn: without them nothing could end a loop that makes no access."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..scheduler.switching import call_driver
from ..state import DriverCall, Word
from ..words import I64, word

PERIOD = 1 << 20  # rounds of loops from one call of the driver to the next: a few milliseconds


def _tick(typing: Any, state: Any, loop: Any, rounds: Any) -> Any:
    """Count a round of a loop and the rounds of those in it; call the driver once in PERIOD, and stop where it says so.

    loop: its number, which is noted.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, address = builder, word(builder, args[0], Word.TICKS)
        left = b.sub(b.load(address), args[2])
        b.store(left, address)
        b.store(args[1], word(b, args[0], Word.LOOP))
        with cgutils.if_unlikely(b, b.icmp_signed("<", left, I64(0))):
            b.store(I64(PERIOD), address)
            call_driver(context, b, args[0], I64(DriverCall.TICK))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


tick = intrinsic(_tick)

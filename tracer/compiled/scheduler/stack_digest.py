"""A digest of the state of a launch's threads: of their stacks, which determine what each does next."""

from __future__ import annotations

from typing import Any

from ..compile_cached import compile_cached, compile_with_callers
from ..memory_words import peek
from ..state import BlockSlot, ThreadSlot, WarpWord, Word
from .blocks import block_slot_at, is_in, thread_slot_at

_PRIME = 0x100000001B3  # of FNV-1a; see Glenn Fowler, Landon Curt Noll and Kiem-Phong Vo, "The FNV hash"


def _mix(digest: int, value: int) -> Any:
    return (digest ^ value ^ (digest >> 29)) * _PRIME


mix = compile_with_callers(_mix)


def _mix_stack(state: int, thread_slot: int, digest: int) -> int:
    """Mix the contents of a thread's stack into the digest, without addresses of rows: those remain from accesses."""
    begin, end = peek(state, Word.BEGIN), peek(state, Word.END)
    pointer = peek(thread_slot, ThreadSlot.STACK_POINTER)
    for k in range((peek(thread_slot, ThreadSlot.STACK) - pointer) // 8):
        value = peek(pointer, k)
        if value < begin or value > end:
            digest = mix(digest, value)
    return digest


mix_stack = compile_with_callers(_mix_stack)


def _digest_of_stacks(state: int) -> int:
    """Compute a digest of the live threads' stacks, and of which threads wait."""
    digest, threads = 0, peek(state, Word.THREADS)
    for i in range(peek(state, Word.LIVE_COUNT)):
        block_slot = block_slot_at(state, peek(peek(state, Word.LIVE), i))
        first = peek(block_slot, BlockSlot.FIRST_THREAD_SLOT)
        for number in range(first, first + threads):
            thread_slot = thread_slot_at(state, number)
            runs, at_barrier = (
                is_in(state, thread_slot, WarpWord.RUNNABLE),
                is_in(state, thread_slot, WarpWord.AT_BARRIER),
            )
            if runs or at_barrier or is_in(state, thread_slot, WarpWord.AT_WARP_OPERATION):
                is_waiting = not runs and peek(block_slot, BlockSlot.RELEASED) == 0
                digest = mix(mix(digest, number), 1 if is_waiting else 0)
                if peek(thread_slot, ThreadSlot.STACK):
                    digest = mix_stack(state, thread_slot, digest)
    return digest


digest_of_stacks = compile_cached(_digest_of_stacks)

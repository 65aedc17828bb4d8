"""The function at the bottom of each thread's stack: it runs the kernel, then ends the thread."""

from __future__ import annotations

from numba.core import types

from ..compile_cached import compile_cached
from ..state import StopReason
from .switching import run_entry, stop_for


def _run_thread(state: int) -> None:
    """Run the kernel, then return to the scheduler for good."""
    if run_entry(state):
        stop_for(state, StopReason.RAISED)
    stop_for(state, StopReason.DONE)


STATE = types.int64
thread = compile_cached(_run_thread)

"""What each thread's stack begins with: the kernel, and then the end of the thread."""

from __future__ import annotations

from typing import Any

from numba.core import types

from ..cached import cached
from ..state import StopReason
from .switching import run_entry, stop_for


def _thread_of(state: Any) -> None:
    """Run the kernel, and let the scheduler have its turn for good."""
    if run_entry(state):
        stop_for(state, StopReason.RAISED)
    stop_for(state, StopReason.DONE)


STATE = types.int64
thread = cached(_thread_of)

"""Threads and blocks of a running launch: one greenlet per CUDA thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import greenlet

from ..model.trace import WARP, Dim3
from ..recording.warp_operations import ConvergingLanes


class Index3:
    """threadIdx, blockIdx, blockDim or gridDim, as a kernel sees it."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: int, y: int, z: int) -> None:
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[int]:
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


class Block:
    """A resident block: its threads, its barrier state, and its shared memory."""

    def __init__(self, number: int, index: Dim3) -> None:
        self.number = number
        self.index = Index3(*index)
        self.threads: list[Thread] = []
        self.running = 0
        self.waiting = 0
        self.votes: list[Any] = []
        self.ballot: tuple[int, int, int] = (0, 0, 0)
        self.shared: dict[Any, Any] = {}
        self.converging: dict[tuple[int, Any], ConvergingLanes] = {}  # by warp, and mask or instruction
        self.released = False
        self.at_grid = False  # whether some of its threads wait for the complete grid


class Thread(greenlet.greenlet):  # type: ignore[misc]  # greenlet is untyped to mypy
    """A CUDA thread. `next` runs after its turn; `slot` is its index among the runnable threads, or -1."""

    __slots__ = (
        "block", "context", "done", "index", "locals", "next", "number", "phase", "prev", "slot", "waiting",
    )  # fmt: skip


def is_cuda_thread() -> bool:
    """Check whether a CUDA thread is running."""
    return isinstance(greenlet.getcurrent(), Thread)


class Hub:
    """The scheduler's node in the ring of threads."""

    def __init__(self) -> None:
        self.switch: Callable[..., Any] = greenlet.getcurrent().switch
        self.next: Any = self
        self.prev: Any = self


class ThreadRaisedError(Exception):
    """A thread raised: (thread, exception)."""


def warp_of(block: Block, warp: int) -> list[Thread]:
    """Return the threads of a warp."""
    return block.threads[warp * WARP :][:WARP]

"""Kernels compiled while nobody waits: those that may be run next, and before them one, as the first takes longer."""

from __future__ import annotations

import contextlib
import io
from collections import deque
from collections.abc import Iterable, Iterator

from ...kernels.scenarios.catalogue import find
from ..model.launch import Launch
from ..model.plan import launch_of
from ..recording.kernel_loader import kernel_file
from .endless import ended_if_endless

PATIENCE = 1.0  # seconds that a kernel's file may take to be run
PAUSE = 0.1  # seconds in which nothing is asked for, before something is compiled


MOST = 24  # kernels that wait, beyond which those that were wanted first are forgotten


class CompilingAhead:
    """What is to be compiled in a worker's spare time: a newer wish goes before older ones."""

    def __init__(self) -> None:
        self._launches: deque[Launch] = deque()
        self._is_cold = True  # whether Numba has compiled nothing in this process

    def want(self, launches: Iterable[Launch]) -> None:
        """Compile the kernels of these launches, in this order, before those that wait; of none, none any more."""
        newer = list(launches)
        older = [launch for launch in self._launches if launch not in newer] if newer else []
        self._launches = deque([*newer, *older][:MOST])

    def __len__(self) -> int:
        return len(self._launches)

    def compile_one(self) -> None:
        """Compile the next; what can't be is told when it is run."""
        launch = launch_of(find("matmul-tiled"), {"m": 16, "k": 16, "n": 16})
        keep, self._is_cold = not self._is_cold, False
        if keep:
            launch = self._launches.popleft()
        with contextlib.suppress(BaseException), _silence():  # a kernel's file may raise anything
            _compile(launch, keep=keep)


def _compile(launch: Launch, *, keep: bool) -> None:
    from ..compiled.driver.engine import compile_kernel

    with ended_if_endless(kernel_file(launch), launch.source, PATIENCE):
        compile_kernel(launch, keep=keep)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Let nothing be heard of what a file prints that nobody runs yet."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield

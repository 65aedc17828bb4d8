"""What a worker does while nobody waits: it compiles kernels that may be run next, and before that runs one of our own.

The first run in a process takes five times as long as the next, since what Numba has compiled before is read from disk,
and the first kernel that it compiles twice as long; a run that is asked for just then would have to wait.
"""

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
from .engine import run

PATIENCE = 1.0  # seconds that a kernel's file may take to be run
PAUSE = 0.1  # seconds in which nothing is asked for, before something is compiled
REST = 0.5  # and before a kernel of our own is run where nothing has been asked for yet
MOST = 24  # kernels that wait, beyond which those that were wanted first are forgotten


class CompilingAhead:
    """What is to be compiled in a worker's spare time: a newer wish goes before older ones."""

    def __init__(self) -> None:
        self._launches: deque[Launch] = deque()
        self.is_fresh = True  # whether nothing has been run in this process
        self._is_cold = True  # whether Numba has compiled nothing in it

    def want(self, launches: Iterable[Launch]) -> None:
        """Compile the kernels of these launches, in this order, before those that wait; of none, none any more."""
        newer = list(launches)
        older = [launch for launch in self._launches if launch not in newer] if newer else []
        self._launches = deque([*newer, *older][:MOST])

    def __len__(self) -> int:
        return len(self._launches)

    def pause(self) -> float | None:
        """Return the seconds without a wish after which there is something to be done, None for nothing."""
        if self._launches:
            return PAUSE
        return REST if self.is_fresh else None

    def go_on(self) -> None:
        """Do one thing: of the wishes, compile the next or read it where it is kept.

        What can't be compiled is told when it is run.
        """
        with contextlib.suppress(BaseException), _silence():  # a kernel's file may raise anything
            if self.is_fresh:
                self.is_fresh, self._is_cold = False, _is_kept(_small())
                run(_small(), lambda done, of: None)
            elif self._is_cold and not _is_kept(self._launches[0]):
                self._is_cold = False
                _compile(_small(), keep=False)
            else:
                _compile(self._launches.popleft(), keep=True)


def _small() -> Launch:
    return launch_of(find("matmul-tiled"), {"m": 16, "k": 16, "n": 16})


def _is_kept(launch: Launch) -> bool:
    """Return whether nothing has to be compiled for a launch, also where nothing can be."""
    from ..compiled.driver.engine import is_kernel_kept

    try:
        with ended_if_endless(kernel_file(launch), launch.source, PATIENCE):
            return is_kernel_kept(launch)
    except BaseException:  # noqa: BLE001  # a kernel's file may raise anything
        return True


def _compile(launch: Launch, *, keep: bool) -> None:
    from ..compiled.driver.engine import compile_kernel

    with ended_if_endless(kernel_file(launch), launch.source, PATIENCE):
        compile_kernel(launch, keep=keep)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Let nothing be heard of what a file prints that nobody runs yet."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield

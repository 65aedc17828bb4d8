"""The idle work of a worker: it runs one of our kernels, and then compiles kernels that may be run next.

The first run in a process takes five times as long as the next, because Numba's compiled code is read from disk. The
first compilation takes twice as long as the next. Doing both while idle keeps the first requested run fast.
"""

from __future__ import annotations

import contextlib
import io
from collections import deque
from collections.abc import Iterable, Iterator

from ...kernels.scenarios.catalogue import find
from ..model.launch import Launch, is_cuda_cpp_launch
from ..model.plan import launch_of
from ..recording.kernel_loader import kernel_file
from .endless import stop_if_endless
from .engine import run

PATIENCE = 1.0  # seconds that the import of a kernel's file may take
PAUSE = 0.1  # idle seconds before a kernel is compiled
REST = 0.5  # idle seconds before one of our kernels is run, if nothing was requested yet
MAX_WAITING = 24  # waiting kernels; the oldest requests beyond are dropped


class PrecompileQueue:
    """A queue of kernels to compile while a worker is idle; newer requests come first."""

    def __init__(self) -> None:
        self._launches: deque[Launch] = deque()
        self.has_run_nothing = True  # whether this process has run nothing yet
        self._is_cold = True  # whether Numba has compiled nothing in this process yet

    def add(self, launches: Iterable[Launch]) -> None:
        """Queue the kernels of these launches in front of the others; an empty list clears the queue."""
        newer = list(launches)
        older = [launch for launch in self._launches if launch not in newer] if newer else []
        self._launches = deque([*newer, *older][:MAX_WAITING])

    def __len__(self) -> int:
        return len(self._launches)

    def idle_delay(self) -> float | None:
        """Return the idle seconds before the next task, None if there is no task."""
        if self._launches:
            return PAUSE
        return REST if self.has_run_nothing else None

    def run_next(self) -> None:
        """Do one task, such as compiling the next kernel or reading it from the cache.

        Errors are ignored here; the run of the kernel reports them.
        """
        with contextlib.suppress(BaseException), _silence():  # a kernel's file may raise anything
            if self.has_run_nothing:
                self.has_run_nothing, self._is_cold = False, _is_cached(_small_launch())
                run(_small_launch(), lambda done, total: None)
            elif self._is_cold and not _is_cached(self._launches[0]):
                self._is_cold = False
                _compile(_small_launch(), keep=False)
            else:
                _compile(self._launches.popleft(), keep=True)


def _small_launch() -> Launch:
    return launch_of(find("matmul-tiled"), {"m": 16, "k": 16, "n": 16})


def _is_cached(launch: Launch) -> bool:
    """Return True if a launch needs no compilation, or can't be compiled."""
    from ..compiled.driver.engine import is_kernel_cached

    if is_cuda_cpp_launch(launch):  # Numba compiles nothing
        return True
    try:
        with stop_if_endless(kernel_file(launch), launch.source, PATIENCE):
            return is_kernel_cached(launch)
    except BaseException:  # noqa: BLE001  # a kernel's file may raise anything
        return True


def _compile(launch: Launch, *, keep: bool) -> None:
    if is_cuda_cpp_launch(launch):
        from ..cuda_cpp.run_launch import compile_launch

        compile_launch(launch)
        return
    from ..compiled.driver.engine import compile_kernel

    with stop_if_endless(kernel_file(launch), launch.source, PATIENCE):
        compile_kernel(launch, keep=keep)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard the output of a file that is only loaded, not run."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield

"""`%tilescope on`: trace every launch of a notebook from then on, and show those of each cell below it."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..tracer.model.finding import count_noun
from ..tracer.model.trace import Trace
from ..tracer.run.long_launch import RUN_PATIENCE
from ..tracer.run.program_hook import RecordingOptions, is_recording, record_launches
from .checked_cell import CheckedCell
from .launches import TracedLaunch
from .replays import start_in_notebook

IMPORTED = (
    "Numba is imported already, so its launches can't be traced. "
    "Restart the kernel, and run %tilescope on before the cells that import it."
)


TIMEIT_OPTIONS = "n:r:tcp:qov:"  # as IPython declares them
ONCE = "The code of %timeit ran once: its launches are traced, and a GPU would take another time."
TIMED = "<timed exec>", "<timed eval>"  # IPython's files of the code below %%time


class RecordingError(Exception):
    """A notebook can't be traced; the text is one sentence or two."""


class CellLaunches:
    """The launches since the last cell: the first and the last of each kernel, which a training loop launches often."""

    def __init__(self) -> None:
        self._begin()

    @property
    def is_empty(self) -> bool:
        """Whether the cell has launched nothing."""
        return not self._counts

    def _begin(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, Trace] = {}
        self._last: dict[str, Trace] = {}

    def add(self, trace: Trace, seconds: float) -> None:
        """Add a launch that has ended."""
        kernel = trace.kernel
        self._counts[kernel] += 1
        self._first.setdefault(kernel, trace)
        self._last.pop(kernel, None)
        self._last[kernel] = trace  # the kernel that was launched last is last

    def take(self) -> CheckedCell | None:
        """Return the launches of the cell, None for none, and begin the next cell."""
        counts, first, last = self._counts, self._first, self._last
        self._begin()
        if not counts:
            return None
        kept = [
            trace for kernel in last for trace in (first[kernel], last[kernel])[counts[kernel] == 1 :]
        ]  # one if it was launched once
        return CheckedCell([TracedLaunch(_load(trace)) for trace in kept], len(kept) - 1, _summary(counts))


def start_recording(shell: Any, display: Callable[[object], object]) -> None:
    """Trace the launches of this process, and show those of each cell after it; raises RecordingError.

    Programs get the functions of numba.cuda that need a GPU, such as to_device, as `tilescope run` offers them.
    """
    if is_recording():
        return
    if "numba" in sys.modules:
        raise RecordingError(IMPORTED)
    launches = CellLaunches()
    record_launches(RecordingOptions(patience=RUN_PATIENCE, notify=_notify), launches.add)

    def show(*_: object) -> None:
        cell = launches.take()
        if cell is not None:
            display(cell)

    shell.events.register("post_run_cell", show)
    _keep_text_of_timed_cells(shell)
    _run_timed_launches_once(shell, launches)
    start_in_notebook()


def _keep_text_of_timed_cells(shell: Any) -> None:
    """Give the code below `%%time` its cell as file: kernels without a text are not compiled."""
    cell, skipped = [""], [0]  # its text, and the lines before its first one, which IPython removes

    def note(info: Any) -> None:
        first, _, body = info.raw_cell.lstrip().partition("\n")
        cell[0] = f"#\n{body}" if first.startswith("%%time") else ""
        skipped[0] = 1 + body[: len(body) - len(body.lstrip())].count("\n")

    class Compiler(type(shell.compile)):  # type: ignore[misc]
        """IPython's compiler, which knows the file of such code."""

        def __call__(self, source: Any, filename: str, symbol: str, *rest: Any, **options: Any) -> Any:
            if cell[0] and filename in TIMED and isinstance(source, ast.AST):
                ast.increment_lineno(source, skipped[0])
                filename = self.cache(cell[0], len(shell.user_ns["In"]) - 1)
            return super().__call__(source, filename, symbol, *rest, **options)

    shell.compile.__class__ = Compiler
    shell.events.register("pre_run_cell", note)


def _run_timed_launches_once(shell: Any, launches: CellLaunches) -> None:
    """Run code with launches once under `%timeit`: a traced launch takes long, and its time means nothing."""
    measure = shell.find_magic("timeit")

    def timeit(line: str, cell: str | None = None) -> Any:
        _, statement = measure.__self__.parse_options(line, TIMEIT_OPTIONS, posix=False, strict=False)
        was_empty = launches.is_empty
        shell.ex(statement if cell is None else f"{statement}\n{cell}")
        if was_empty and launches.is_empty:
            return measure(line, cell)
        return _notify(ONCE)

    shell.register_magic_function(timeit, "line_cell", "timeit")


def _load(trace: Trace) -> Callable[[], Trace]:
    return lambda: trace


def _summary(counts: Counter[str]) -> str:
    """Return "" if all launches are kept, else how many there were."""
    if max(counts.values()) <= 2:
        return ""
    total, kernels = count_noun(counts.total(), "launch"), count_noun(len(counts), "kernel")
    return f"{total} of {kernels}; the first and the last of each are examined"


def _notify(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")

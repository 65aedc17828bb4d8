"""A traced launch as users see it: its counters, findings, accesses, file, window and picture."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.scenarios.suggestions import did_you_mean
from ..tracer.analysis.counters import counters_of
from ..tracer.analysis.requests import requests_of
from ..tracer.model.counter_names import SUMS, sum_of
from ..tracer.model.finding import count_noun
from ..tracer.model.trace import Op, Trace
from .errors import TilescopeError
from .findings import Finding, findings_of
from .pictures import Theme, open_window, render_png, save_trace
from .replays import MimeBundle, Replay

if TYPE_CHECKING:
    from ..tracer.as_compiled.job import CompiledCounters
    from ..tracer.type_inference.question import Question

Dim3 = tuple[int, int, int]
COLUMNS = ("block", "thread", "phase", "op", "buffer", "index", "value", "step", "line")


class Accesses(Mapping[str, NDArray[Any]]):
    """The stored accesses of a launch in execution order: a NumPy column for each property.

    block, thread: linear numbers in the grid and in the block, x fastest. phase: the number of barriers that the thread
    has passed. op: 0 a load, 1 a store, 2 an atomic, 3 an atomic whose old value is not used (`OPERATIONS`). buffer:
    index in `buffers`. index: element of the buffer, in memory order. value: the value loaded, stored or left by an
    atomic, in the launch's widest type. step: the scheduler's count. line: of the source, from 1. All columns have one
    entry for each access, and are read-only: `trace["line"]`, or `trace.line`.
    """

    __module__ = "tilescope"  # where users find it

    OPERATIONS = tuple(op.name.lower() for op in Op)

    def __init__(self, load: Callable[[], Trace]) -> None:
        self._load = load

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the arrays that `buffer` indexes, as in the kernel."""
        return tuple(buffer.name for buffer in self._load().buffers)

    @property
    def files(self) -> NDArray[np.object_]:
        """The file of each access's line, as a column: a kernel may call functions of other modules."""
        trace = self._load()
        files: NDArray[np.object_] = np.array([site.file for site in trace.sites], np.object_)[trace.site]
        return files

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in COLUMNS:
            raise KeyError(name)
        column = self._column(name)
        column.flags.writeable = False
        return column

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name in COLUMNS:
            return self[name]
        raise AttributeError(f"{name!r} is no column of accesses; they are {', '.join(COLUMNS)}.")

    def _column(self, name: str) -> NDArray[Any]:
        trace = self._load()
        if name == "line":
            lines: NDArray[np.int64] = np.array([site.line for site in trace.sites], np.int64)[trace.site]
            return lines
        if name == "value" and trace.value is None:
            return np.full(len(trace), np.nan)
        column: NDArray[Any] = getattr(trace, name).view()
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def __repr__(self) -> str:
        return f"<{len(self._load()):,} accesses: {', '.join(COLUMNS)}>"


class UnknownCounterError(KeyError, TilescopeError):
    """There is no counter of this name; the text is one sentence that lists the existing ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class Counters(Mapping[str, int]):
    """The counters of a launch, by the names that `tilescope counters` prints.

    The sums that the window shows are available too, by their labels: `counters["global_sectors"]` adds up loads,
    stores and atomics.
    """

    def __init__(self, counters: Mapping[str, int]) -> None:
        self._counters = dict(counters)

    def __getitem__(self, name: str) -> int:
        key = name.replace(" ", "_") if isinstance(name, str) else name
        if key in self._counters:
            return self._counters[key]
        if key in SUMS:
            return sum_of(self._counters, key)
        hint = did_you_mean(str(key), [*SUMS, *self._counters])
        raise UnknownCounterError(f"no counter is called {name!r}{hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._counters)

    def __len__(self) -> int:
        return len(self._counters)

    def __repr__(self) -> str:
        return repr(self._counters)


class TracedLaunch:
    """A launch that was traced: its memory accesses, and ways to look at them.

    kernel: the function's name. grid, block: blocks and threads along x, y, z. notice: a sentence about what the trace
    lacks, "" if it is complete.
    """

    __module__ = "tilescope"  # where users find it

    def __init__(self, load: Callable[[], Trace], question: Question | None = None) -> None:
        self._load, self._question = load, question
        self._pictures: dict[tuple[Any, ...], bytes] = {}
        self._lock = threading.Lock()
        trace = load()
        self.kernel: str = trace.kernel
        self.grid: Dim3 = trace.grid
        self.block: Dim3 = trace.block_dim
        self.notice: str = _notice(trace)
        self._text = _text(trace, self.notice)

    @cached_property
    def counters(self) -> Counters:
        """The memory counters of the complete launch: the numbers that `tilescope counters` prints, by name."""
        trace = self._load()
        return Counters(counters_of(trace, requests_of(trace)).total)

    @cached_property
    def compiled_counters(self) -> Counters:
        """The same counters for the kernel as an optimising compiler leaves it: what a GPU is likely to count.

        `compiler` names it. The first access takes a second or two: the kernel runs again, on the original contents of
        its arrays. Raises TilescopeError if that is not possible.
        """
        return Counters(self._compiled.counters)

    def assert_counters(self, snapshot: str | PathLike[str] | None = None, /, **expected: int) -> None:
        """Raise AssertionError if counters differ; the text has each difference, and the lines that it comes from.

        expected: values by the names that `counters` accepts: `launch.assert_counters(global_load_sectors=64)`.
        snapshot: a JSON file with earlier counters of this launch, which none may exceed. `pytest
        --tilescope-update-snapshots` writes it. Raises UnknownCounterError, and TilescopeError if there is nothing to
        compare, or for a file that can't be used.
        """
        __tracebackhide__ = True  # pytest shows the line of the test instead
        if not expected and snapshot is None:
            raise TilescopeError("assert_counters compares nothing; name a counter and its value, or a file.")
        keys = {name.replace(" ", "_"): number for name, number in expected.items()}
        differing = {name: number for name, number in keys.items() if self.counters[name] != number}
        if differing:
            from .counter_differences import difference_text

            raise AssertionError(difference_text(self._load(), self.counters, differing))
        if snapshot is not None:
            from .counter_snapshots import compare_with_snapshot

            compare_with_snapshot(self._load(), self.counters, Path(snapshot))

    @property
    def compiled_at_least(self) -> tuple[str, ...]:
        """The names of `compiled_counters` that are lower bounds: only a GPU shows how often contended loops repeat."""
        return self._compiled.at_least

    @property
    def compiler(self) -> str:
        """The compiler behind `compiled_counters`: "LLVM 22.1 of llvmlite 0.50.0"; raises TilescopeError."""
        return self._compiled.compiler

    @cached_property
    def _compiled(self) -> CompiledCounters:
        from .compiled import compiled_counters_of

        return compiled_counters_of(self._load(), self._question)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, errors first.

        The first access takes a while: it also asks Numba's compiler about the kernel, and waits for the answer for at
        most 20 seconds.
        """
        return findings_of([self._recorded])

    @property
    def _recorded(self) -> tuple[Trace, Question | None]:
        """The inputs of its findings."""
        return self._load(), self._question

    @cached_property
    def trace(self) -> Accesses:
        """The accesses as columns."""
        return Accesses(self._load)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a trace file atomically, for `tilescope open`; raises TilescopeError."""
        save_trace(self._load(), fspath(path))

    def show(self) -> None:
        """Open the window on this launch in a separate process and return at once; raises TilescopeError."""
        open_window(self._load())

    def picture(
        self, moment: int | None = None, *, theme: Theme = "light", size: tuple[int, int] = (1280, 800)
    ) -> bytes:
        """Draw the window on this launch as a PNG, without a screen, in a separate process.

        moment: the moment to show, clamped to the end; None is where the window would begin. size: width and height in
        pixels. Raises TilescopeError.
        """
        key = moment, theme, size
        with self._lock:
            if key not in self._pictures:
                self._pictures[key] = render_png(self._load(), *key)
            return self._pictures[key]

    def replay(
        self,
        other: TracedLaunch | None = None,
        *,
        moment: int | None = None,
        begin: str | None = None,
        end: str | None = None,
        large: bool = False,
    ) -> Replay:
        """Return a replay of this launch, or of it and another side by side; at the end of a cell it plays.

        moment: the one that it shows first; None is where the window would begin. begin, end: moments such as "24",
        "phase 2" or "first load". large: draw it even if it takes longer than 3 seconds or more than 3 MB.
        """
        loads = (self._load,) if other is None else (self._load, other._load)
        return Replay(loads, moment, begin, end, is_large=large)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> MimeBundle:
        """Return the replay for a notebook, and the text."""
        return self._shown.bundle(self._text)

    def _repr_html_(self) -> str:
        """Return the replay for marimo, which reads only this."""
        return self._repr_mimebundle_()["text/html"]

    @cached_property
    def _shown(self) -> Replay:
        return self.replay()

    def __repr__(self) -> str:
        return self._text


def _notice(trace: Trace) -> str:
    ran_count, total = len(trace.blocks), math.prod(trace.grid)
    if ran_count < total and not trace.notice:
        return f"{ran_count:,} of {total:,} blocks ran: the first, the last and others evenly between."
    return trace.notice


def _text(trace: Trace, notice: str) -> str:
    size = f"{count_noun(math.prod(trace.grid), 'block')} of {count_noun(trace.threads, 'thread')}"
    error = f"; raised {trace.error.type}" if trace.error else ""
    part = f"; {notice}" if notice else ""
    return f"<TracedLaunch {trace.kernel}: {size}, {count_noun(trace.accesses, 'access')}{error}{part}>"


class KernelRaised(TilescopeError):
    """A kernel raised, as on a GPU with debug=True; `launch` is the trace up to that point."""

    __module__ = "tilescope"  # where users find it

    def __init__(self, message: str, launch: TracedLaunch) -> None:
        super().__init__(message)
        self.launch = launch


class LaunchTimeoutError(KernelRaised):
    """A launch was stopped because a block took longer than `patience`; `launch` is the trace of its first accesses."""

    __module__ = "tilescope"  # where users find it

"""What names mean in captions, choices and answers: counters, shapes, contents and measured times of the panes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...kernels.scenarios.suggestions import did_you_mean
from ...tracer.analysis.minimum_cost import minimum_sectors, minimum_wavefronts
from ...tracer.measure.recorded_counters import recorded_counters_of
from ...tracer.model.counter_names import NAMES, SUMS, sum_of
from ...tracer.model.trace import WARP, Buffer
from ..compiled.depths import short_compiler
from ..model.session import Selection, Session, buffer_text
from .expressions import Environment, ExpressionError, Names, StillComputedError
from .quantities import Mark, Quantity, Unit

Ask = Callable[[Session], None]
NO_REQUEST = "makes no request at moment"  # what an error says where there is none


@dataclass(frozen=True)
class Counted(Names):
    """Counters of a launch, at an end or by a moment."""

    what = "a set of counters"

    counters: Mapping[str, int]  # by the names of `tilescope counters`
    mark: Mark  # exact, of a part, compiled or measured
    origin: str = ""  # of what was compiled or measured: by what, or where

    def get(self, name: str) -> Quantity:
        """Return a counter or a sum of some; raises ExpressionError."""
        unit: Unit = "bytes" if name.endswith("_bytes") else ""
        if name in NAMES:
            if name not in self.counters:
                raise ExpressionError(f"{self.what} has no {name}: nobody has counted it.")
            return Quantity(self.counters[name], self.mark, unit, self.origin)
        if name not in SUMS:
            raise ExpressionError(f"{self.what} has no {name}{did_you_mean(name, [*SUMS, *NAMES])}")
        return Quantity(sum_of(self.counters, name), self.mark, unit, self.origin)


@dataclass(frozen=True)
class ReadCounters(Counted):
    """Counters that Nsight Compute read on a GPU, which have the name of that."""

    device: str = ""

    def get(self, name: str) -> Quantity:
        """Return a counter, a sum of some, or the device; raises ExpressionError."""
        return Quantity(self.device, self.mark, "", self.origin) if name == "device" else super().get(name)


@dataclass(frozen=True)
class RequestNames(Names):
    """The request that a warp makes at a moment."""

    what = "a request"

    session: Session  # whose it is
    row: int  # of the session's requests
    mark: Mark  # exact, or of a part

    def get(self, name: str) -> Quantity:
        """Return one of its numbers; raises ExpressionError."""
        requests, row = self.session.requests, self.row
        known: dict[str, Callable[[], int]] = {
            "sectors": lambda: int(requests.sectors[row]),
            "wavefronts": lambda: int(requests.wavefronts[row]),
            "lanes": lambda: int(requests.lanes[row]),
            "bytes": lambda: int(requests.lanes[row]) * self._itemsize,
            "minimum": self._minimum,
        }
        if name not in known:
            raise ExpressionError(f"{self.what} has no {name}{did_you_mean(name, known)}")
        return Quantity(known[name](), self.mark)

    @property
    def _buffer(self) -> Buffer:
        return self.session.trace.buffers[int(self.session.requests.buffer[self.row])]

    @property
    def _itemsize(self) -> int:
        return np.dtype(self._buffer.dtype).itemsize

    def _minimum(self) -> int:
        """Return the sectors, or wavefronts, that its elements would take side by side."""
        requests, trace = self.session.requests, self.session.trace
        rows = requests.accesses.of(slice(self.row, self.row + 1))
        if self._buffer.space == "shared":
            fewest = minimum_wavefronts(trace.thread[rows].astype(np.int64) % WARP, self._itemsize)
            return min(fewest, int(requests.wavefronts[self.row]))
        return minimum_sectors(len(np.unique(trace.index[rows])) * self._itemsize)


@dataclass(frozen=True)
class BufferNames(Names):
    """A buffer of a pane."""

    pane: PaneNames  # whose it is
    number: int  # in the trace's buffers

    @property
    def what(self) -> str:
        """What it is, in an error."""
        return f"the buffer {self.buffer.name}"

    @property
    def buffer(self) -> Buffer:
        """The buffer itself."""
        return self.pane.session.trace.buffers[self.number]

    def get(self, name: str) -> Quantity:
        """Return one of its numbers; raises ExpressionError."""
        shape, reads = self.buffer.shape, self._reads
        known: dict[str, Callable[[], float]] = {
            "elements": lambda: math.prod(shape),
            "rows": lambda: shape[0],
            "columns": lambda: shape[-1],
            "reads": lambda: _whole(float(reads().mean())) if reads().size else 0,
            "most_reads": lambda: int(reads().max(initial=0)),
            "sum": lambda: _whole(float(self._held().sum())),
            "largest": lambda: _whole(float(self._held().max())),
            "smallest": lambda: _whole(float(self._held().min())),
        }
        if name not in known:
            raise ExpressionError(f"{self.what} has no {name}{did_you_mean(name, known)}")
        return Quantity(known[name](), self.pane.mark)

    def _reads(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        session, block = self.pane.session, self.pane.selection.block
        return session.memory.reads(self.number, session.end, block)

    def _held(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Return what all elements hold at this moment; raises ExpressionError where they are no plain numbers."""
        pane = self.pane
        held = pane.session.memory.values(
            self.number, pane.moment, pane.selection.block, pane.selection.thread
        )
        if held.dtype.kind not in "biuf" or not held.size:
            raise ExpressionError(f"{self.what} holds no plain numbers.")
        return held.astype(np.float64)

    def at(self, index: tuple[int, ...]) -> Quantity:
        """Return what an element holds; raises ExpressionError."""
        shape = self.buffer.shape
        if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
            raise ExpressionError(f"{self.what} has the shape {shape}, and no element {list(index)}.")
        pane = self.pane
        held = pane.session.memory.values(
            self.number, pane.moment, pane.selection.block, pane.selection.thread
        )
        value = held[index]
        if not np.isscalar(value) or isinstance(value, complex | np.complexfloating):
            raise ExpressionError(f"{self.buffer.name}{list(index)} is no plain number.")
        return Quantity(_whole(float(value)) if value == value else float("nan"), pane.mark)


def _whole(value: float) -> float:
    """Return a number as a whole one where it is."""
    return int(value) if math.isfinite(value) and value == int(value) else value


@dataclass(frozen=True)
class PaneNames(Names):
    """A pane at a moment."""

    title: str  # "the left pane"
    session: Session  # what it shows
    moment: int  # of this pane
    selection: Selection  # block and thread in focus
    values: Mapping[str, int | str]  # of its scenario's parameters, all of them
    measured: Names | None  # the row that was measured nearest to it
    ask: Ask | None = None  # asks for counters as compiled that are not known; None: they are waited for

    @property
    def what(self) -> str:
        """What it is, in an error."""
        return self.title

    @property
    def mark(self) -> Mark:
        """Whether its numbers are of the whole launch."""
        trace = self.session.trace
        return "part" if (trace.is_part or trace.error is not None) else "exact"

    def get(self, name: str) -> Quantity | Names:
        """Return what a name means; raises ExpressionError."""
        if name in SUMS or name in NAMES:
            return self._counted(self.session.counters.total).get(name)
        if name in self._shape:
            return Quantity(self._shape[name], self.mark)
        if name in ("findings", "races", "errors"):
            return Quantity(self._told(name), self.mark)
        if name in ("correct", "largest_error"):
            return self._checked(name)
        if name == "now":
            return self._counted(self.session.counters.at(self.moment))
        if name == "compiled":
            return self._compiled()
        if name == "nsight":
            return self._read()
        if name == "request":
            return self._request()
        if name == "measured":
            return self._measured()
        return self._parameter_or_buffer(name)

    def _compiled(self) -> Counted:
        from ..compiled.compiled_counters import compiled_counters_of

        found = compiled_counters_of(self.session) if self.ask is None else self.session.compiled
        if found is None:
            assert self.ask is not None
            self.ask(self.session)
            raise StillComputedError(f"What {self.what} shows is still being compiled.")
        if found.reason:
            raise ExpressionError(f"What {self.what} shows has no compiled counters: {found.reason}")
        return Counted(found.counters, "compiled", f"by {short_compiler(found)}")

    def _read(self) -> Names:
        read = recorded_counters_of(self.session.launch) if self.session.runs_as_shipped else None
        if read is None:
            raise ExpressionError(f"Nsight Compute did not count what {self.what} shows.")
        return ReadCounters(read.counters, "measured", f"on an {read.device}, {read.date}", read.device)

    def _counted(self, counters: Mapping[str, int]) -> Counted:
        return Counted(counters, self.mark)

    @cached_property
    def _shape(self) -> dict[str, int]:
        trace = self.session.trace
        blocks = math.prod(trace.grid)
        return {
            "threads": trace.threads,
            "warps": -(-trace.threads // WARP),
            "blocks": blocks,
            "threads_in_all": blocks * trace.threads,
            "moments": self.session.end,
            "phases": self.session.requests.span_start.shape[1] if len(trace) else 0,
            "accesses": trace.accesses,
            "block": self.selection.block,
            "thread": self.selection.thread,
        }

    def _told(self, name: str) -> int:
        told = self.session.findings
        if name == "races":
            return sum(finding.kind == "race" for finding in told)
        return len(told) if name == "findings" else sum(finding.severity == "error" for finding in told)

    def _checked(self, name: str) -> Quantity:
        check = self.session.trace.check
        if check is None:
            raise ExpressionError(f"The result of {self.what} was not compared with NumPy's.")
        return Quantity(check.equal if name == "correct" else check.largest_error, self.mark)

    def _request(self) -> RequestNames:
        requests = self.session.requests
        rows = self.session.memory.request_rows(self.moment)
        warp = self.selection.thread // WARP
        mine = [
            row for row in rows if requests.block[row] == self.selection.block and requests.warp[row] == warp
        ]
        if not mine:
            raise ExpressionError(
                f"In {self.what}, warp {warp} of block {self.selection.block} {NO_REQUEST} "
                f"{self.moment:,}; choose another moment, block or thread."
            )
        return RequestNames(self.session, mine[0], self.mark)

    def _measured(self) -> Names:
        if self.measured is None:
            raise ExpressionError(f"Nothing was measured of what {self.what} shows.")
        return self.measured

    def part(self, name: str) -> Quantity | Names:
        """Return a buffer by its name, else what `get` returns; raises ExpressionError."""
        return self._buffer(name) or self.get(name)

    def _buffer(self, name: str) -> BufferNames | None:
        for number, buffer in enumerate(self.session.trace.buffers):
            if name in (buffer.name, buffer_text(buffer)):
                return BufferNames(self, number)
        return None

    def _parameter_or_buffer(self, name: str) -> Quantity | Names:
        found = Quantity(self.values[name]) if name in self.values else self._buffer(name)
        if found is not None:
            return found
        names = [buffer_text(buffer) for buffer in self.session.trace.buffers]
        told = ["findings", "races", "correct", "now", "compiled", "nsight", "request", "measured"]
        known = dict.fromkeys([*SUMS, *self._shape, *told, *self.values, *names])
        raise ExpressionError(f"{self.what} has no {name}{did_you_mean(name, known)}")


def environment(
    sessions: Sequence[Session],
    moments: Sequence[float],
    selections: Sequence[Selection],
    values: Sequence[Mapping[str, int | str]],
    focus: int,
    *,
    ask: Ask | None = None,
) -> Environment:
    """Return what names mean where these sessions stand at these moments, the one of `focus` as `here` too.

    values: of the parameters of each pane's scenario, all of them. ask: see `PaneNames`.
    """
    from .measured_times import of_panes  # with charts, which the window needs later

    titles = ["left", "right"][: len(sessions)]
    measured = of_panes(sessions, values)
    panes: dict[str, Names] = {}
    for i, title in enumerate(titles):
        what = f"the {title} pane" if len(sessions) > 1 else "the pane"
        moment = math.floor(moments[i])
        panes[title] = PaneNames(what, sessions[i], moment, selections[i], values[i], measured[i], ask)
    here = {"here": panes[titles[min(focus, len(titles) - 1)]]} if titles else {}
    return {**panes, **here, "measured": _measured}


def _measured(arguments: tuple[Quantity, ...], keywords: Mapping[str, Quantity]) -> Names:
    """Return the row of measured("SCENARIO", name=value); raises ExpressionError."""
    from .measured_times import of_row

    if len(arguments) != 1 or not isinstance(arguments[0].value, str):
        raise ExpressionError('Write measured("SCENARIO", name=value).')
    values = {key: q.value for key, q in keywords.items() if isinstance(q.value, int | str)}
    return of_row(arguments[0].value, values)

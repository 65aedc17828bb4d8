"""Names in captions, choices and answers: counters, shapes, contents and measured times of the panes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.analysis.loop_rounds import are_rounds_unknown
from ....tracer.analysis.minimum_cost import minimum_sectors, minimum_wavefronts
from ....tracer.hardware.times.recorded_counters import recorded_counters_of
from ....tracer.model.counter_names import NAMES, SUMS, sum_of
from ....tracer.model.trace import WARP, Buffer
from ...compiled.model.depths import short_compiler
from ...model.kernel_source import kernel_lines
from ...model.session import Selection, Session, buffer_text
from .expressions import Environment, ExpressionError, Names, PendingError
from .quantities import Mark, Quantity, Unit

Ask = Callable[[Session], None]
NO_REQUEST = "makes no request at moment"  # part of an error message


@dataclass(frozen=True)
class CounterNames(Names):
    """Counters of a launch, at its end or up to a moment."""

    description = "a set of counters"

    counters: Mapping[str, int]  # by the names of `tilescope counters`
    mark: Mark  # exact, part, compiled or measured
    origin: str = ""  # of compiled or measured counters: the compiler or the device

    def get(self, name: str) -> Quantity:
        """Look up a counter or a sum of some; raises ExpressionError."""
        unit: Unit = "bytes" if name.endswith("_bytes") else ""
        if name in NAMES:
            if name not in self.counters:
                raise ExpressionError(f"{self.description} has no {name}: it was not counted.")
            return Quantity(self.counters[name], self.mark, unit, self.origin)
        if name not in SUMS:
            raise ExpressionError(f"{self.description} has no {name}{did_you_mean(name, [*SUMS, *NAMES])}")
        return Quantity(sum_of(self.counters, name), self.mark, unit, self.origin)


@dataclass(frozen=True)
class NsightCounterNames(CounterNames):
    """Counters that Nsight Compute read on a GPU."""

    device: str = ""

    def get(self, name: str) -> Quantity:
        """Look up a counter, a sum of some, or the device; raises ExpressionError."""
        return Quantity(self.device, self.mark, "", self.origin) if name == "device" else super().get(name)


@dataclass(frozen=True)
class RequestNames(Names):
    """The request of a warp at a moment."""

    description = "a request"

    session: Session  # the session of the request
    row: int  # of the session's requests
    mark: Mark  # exact, or of a part

    def get(self, name: str) -> Quantity:
        """Look up one of its numbers; raises ExpressionError."""
        requests, row = self.session.requests, self.row
        numbers: dict[str, Callable[[], int]] = {
            "sectors": lambda: int(requests.sectors[row]),
            "wavefronts": lambda: int(requests.wavefronts[row]),
            "lanes": lambda: int(requests.lanes[row]),
            "bytes": lambda: int(requests.lanes[row]) * self._itemsize,
            "minimum": self._minimum,
        }
        if name not in numbers:
            raise ExpressionError(f"{self.description} has no {name}{did_you_mean(name, numbers)}")
        return Quantity(numbers[name](), self.mark)

    @property
    def _buffer(self) -> Buffer:
        return self.session.trace.buffers[int(self.session.requests.buffer[self.row])]

    @property
    def _itemsize(self) -> int:
        return np.dtype(self._buffer.dtype).itemsize

    def _minimum(self) -> int:
        """Count the sectors, or wavefronts, that contiguous elements would take."""
        requests, trace = self.session.requests, self.session.trace
        rows = requests.accesses.rows_of(slice(self.row, self.row + 1))
        if self._buffer.space == "shared":
            fewest = minimum_wavefronts(trace.thread[rows].astype(np.int64) % WARP, self._itemsize)
            return min(fewest, int(requests.wavefronts[self.row]))
        return minimum_sectors(len(np.unique(trace.index[rows])) * self._itemsize)


@dataclass(frozen=True)
class BufferNames(Names):
    """A buffer of a pane."""

    pane: PaneNames  # the pane of the buffer
    number: int  # index in the trace's buffers

    @property
    def description(self) -> str:
        """Its description in an error."""
        return f"the buffer {self.buffer.name}"

    @property
    def buffer(self) -> Buffer:
        """The buffer itself."""
        return self.pane.session.trace.buffers[self.number]

    def get(self, name: str) -> Quantity:
        """Look up one of its numbers; raises ExpressionError."""
        shape, reads = self.buffer.shape, self._reads
        numbers: dict[str, Callable[[], float]] = {
            "elements": lambda: math.prod(shape),
            "rows": lambda: shape[0],
            "columns": lambda: shape[-1],
            "reads": lambda: _simplify_float(float(reads().mean())) if reads().size else 0,
            "most_reads": lambda: int(reads().max(initial=0)),
            "sum": lambda: _simplify_float(float(self._contents().sum())),
            "largest": lambda: _simplify_float(float(self._contents().max())),
            "smallest": lambda: _simplify_float(float(self._contents().min())),
        }
        if name not in numbers:
            raise ExpressionError(f"{self.description} has no {name}{did_you_mean(name, numbers)}")
        return Quantity(numbers[name](), self.pane.mark)

    def _reads(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        session, block = self.pane.session, self.pane.selection.block
        return session.memory.reads(self.number, session.end, block)

    def _contents(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Return the values of all elements at this moment; raises ExpressionError unless they are plain numbers."""
        pane = self.pane
        contents = pane.session.memory.values(
            self.number, pane.moment, pane.selection.block, pane.selection.thread
        )
        if contents.dtype.kind not in "biuf" or not contents.size:
            raise ExpressionError(f"{self.description} does not contain plain numbers.")
        return contents.astype(np.float64)

    def element(self, index: tuple[int, ...]) -> Quantity:
        """Return the value of an element; raises ExpressionError."""
        shape = self.buffer.shape
        if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
            raise ExpressionError(f"{self.description} has the shape {shape} and no element {list(index)}.")
        pane = self.pane
        contents = pane.session.memory.values(
            self.number, pane.moment, pane.selection.block, pane.selection.thread
        )
        value = contents[index]
        if not np.isscalar(value) or isinstance(value, complex | np.complexfloating):
            raise ExpressionError(f"{self.buffer.name}{list(index)} is not a plain number.")
        return Quantity(_simplify_float(float(value)) if value == value else float("nan"), pane.mark)


BUFFER_VALUES = ("elements", "rows", "columns", "reads", "most_reads", "sum", "largest", "smallest")


def _simplify_float(value: float) -> float:
    """Convert a float with an integer value to int."""
    return int(value) if math.isfinite(value) and value == int(value) else value


@dataclass(frozen=True)
class PaneNames(Names):
    """A pane at a moment."""

    title: str  # "the left pane"
    session: Session  # the session of the pane
    moment: int  # of this pane
    selection: Selection  # block and thread in focus
    values: Mapping[str, int | str]  # of its scenario's parameters, all of them
    measured: Names | None  # the nearest measured row
    ask: Ask | None = None  # requests missing compiled counters; None: wait for them

    @property
    def description(self) -> str:
        """Its description in an error."""
        return self.title

    @property
    def mark(self) -> Mark:
        """Whether its numbers cover the complete launch."""
        trace = self.session.trace
        if trace.is_part or trace.error is not None:
            return "part"
        return "estimated" if are_rounds_unknown(trace) else "exact"

    def get(self, name: str) -> Quantity | Names:
        """Look up a name; raises ExpressionError."""
        if name in SUMS or name in NAMES:
            return self._counted(self.session.counters.total).get(name)
        if name in self._shape:
            return Quantity(self._shape[name], self.mark)
        if name in ("findings", "races", "errors"):
            return Quantity(self._finding_count(name), self.mark)
        if name in ("correct", "largest_error"):
            return self._checked(name)
        if name == "now":
            return self._counted(self.session.counters.values_at(self.moment))
        if name == "compiled":
            return self._compiled()
        if name == "nsight":
            return self._read()
        if name == "request":
            return self._request()
        if name == "measured":
            return self._measured()
        return self._parameter_or_buffer(name)

    def lines_with(self, text: str) -> tuple[int, ...]:
        """Return the numbers of the kernel's lines with a text."""
        return tuple(number for number, line in kernel_lines(self.session) if text in line)

    def _compiled(self) -> CounterNames:
        from ...compiled.model.compiled_counters import compiled_counters_of

        counters = compiled_counters_of(self.session) if self.ask is None else self.session.compiled
        if counters is None:
            assert self.ask is not None
            self.ask(self.session)
            raise PendingError(f"The kernel of {self.description} is still being compiled.")
        if counters.reason:
            raise ExpressionError(
                f"The kernel of {self.description} has no compiled counters: {counters.reason}"
            )
        return CounterNames(counters.counters, "compiled", f"by {short_compiler(counters)}")

    def _read(self) -> Names:
        recorded = recorded_counters_of(self.session.launch) if self.session.is_unmodified else None
        if recorded is None:
            raise ExpressionError(f"Nsight Compute did not count the launch of {self.description}.")
        return NsightCounterNames(
            recorded.counters, "measured", f"on an {recorded.device}, {recorded.date}", recorded.device
        )

    def _counted(self, counters: Mapping[str, int]) -> CounterNames:
        return CounterNames(counters, self.mark)

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

    def _finding_count(self, name: str) -> int:
        findings = self.session.findings
        if name == "races":
            return sum(finding.kind == "race" for finding in findings)
        return (
            len(findings) if name == "findings" else sum(finding.severity == "error" for finding in findings)
        )

    def _checked(self, name: str) -> Quantity:
        check = self.session.trace.check
        if check is None:
            raise ExpressionError(f"The result of {self.description} was not compared to NumPy's.")
        return Quantity(check.equal if name == "correct" else check.largest_error, self.mark)

    def _request(self) -> RequestNames:
        requests = self.session.requests
        rows = self.session.memory.request_rows(self.moment)
        warp = self.selection.thread // WARP
        own_rows = [
            row for row in rows if requests.block[row] == self.selection.block and requests.warp[row] == warp
        ]
        if not own_rows:
            raise ExpressionError(
                f"In {self.description}, warp {warp} of block {self.selection.block} {NO_REQUEST} "
                f"{self.moment:,}; choose another moment, block or thread."
            )
        return RequestNames(self.session, own_rows[0], self.mark)

    def _measured(self) -> Names:
        if self.measured is None:
            raise ExpressionError(f"There are no measurements of the launch of {self.description}.")
        return self.measured

    def counter_names(self) -> list[str]:
        """List the counters of the launch that are not 0."""
        total = self.session.counters.total
        return [name for name in SUMS if sum_of(total, name)]

    def plain_names(self) -> list[str]:
        """List the numbers of the launch's size, place and findings."""
        return [*self._shape, *self.values, "findings", "races", "errors", "correct", "largest_error"]

    def buffer_names(self) -> list[str]:
        """List the numbers of the buffers whose names can be written in an expression."""
        names = [buffer_text(buffer) for buffer in self.session.trace.buffers]
        return [f"{name}.{value}" for name in names if name.isidentifier() for value in BUFFER_VALUES]

    def part(self, name: str) -> Quantity | Names:
        """Look up a buffer by its name, else anything that `get` returns; raises ExpressionError."""
        return self._buffer(name) or self.get(name)

    def _buffer(self, name: str) -> BufferNames | None:
        for number, buffer in enumerate(self.session.trace.buffers):
            if name in (buffer.name, buffer_text(buffer)):
                return BufferNames(self, number)
        return None

    def _parameter_or_buffer(self, name: str) -> Quantity | Names:
        value = Quantity(self.values[name]) if name in self.values else self._buffer(name)
        if value is not None:
            return value
        names = [buffer_text(buffer) for buffer in self.session.trace.buffers]
        other_names = ["findings", "races", "correct", "now", "compiled", "nsight", "request", "measured"]
        all_names = dict.fromkeys([*SUMS, *self._shape, *other_names, *self.values, *names])
        raise ExpressionError(f"{self.description} has no {name}{did_you_mean(name, all_names)}")


def build_environment(
    sessions: Sequence[Session],
    moments: Sequence[float],
    selections: Sequence[Selection],
    values: Sequence[Mapping[str, int | str]],
    focus: int,
    *,
    ask: Ask | None = None,
) -> Environment:
    """Build the environment of names for these sessions at these moments; `here` is the pane in focus.

    values: of the parameters of each pane's scenario, all of them. ask: see `PaneNames`.
    """
    from .measured_times import measured_of_panes  # imported here, because the window needs charts later

    titles = ["left", "right"][: len(sessions)]
    measured = measured_of_panes(sessions, values)
    panes: dict[str, Names] = {}
    for i, title in enumerate(titles):
        pane_name = f"the {title} pane" if len(sessions) > 1 else "the pane"
        moment = math.floor(moments[i])
        panes[title] = PaneNames(pane_name, sessions[i], moment, selections[i], values[i], measured[i], ask)
    here = {"here": panes[titles[min(focus, len(titles) - 1)]]} if titles else {}
    return {**panes, **here, "measured": _measured}


def _measured(arguments: tuple[Quantity, ...], keywords: Mapping[str, Quantity]) -> Names:
    """Look up the row of measured("SCENARIO", name=value); raises ExpressionError."""
    from .measured_times import measured_row

    if len(arguments) != 1 or not isinstance(arguments[0].value, str):
        raise ExpressionError('Write measured("SCENARIO", name=value).')
    values = {key: q.value for key, q in keywords.items() if isinstance(q.value, int | str)}
    return measured_row(arguments[0].value, values)

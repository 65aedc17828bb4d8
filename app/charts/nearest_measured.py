"""What was measured nearest to a launch: its kernel's time on a device, and how many times as fast as another's."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod

import msgspec
from msgspec import Struct

from ...kernels.scenarios.catalogue import Values, find, settle
from ...tracer.hardware.profiling.row_figures import RowFigures, figures_of
from ...tracer.measure.measurement import NEWER, Row, Timing
from ...tracer.model.launch import Array, Dim3, Launch
from .bars import IN_SIZE_AND_SHAPE
from .choice import LAUNCHED, ChartSubject, Choice, chosen_rows, timing_of
from .sources import MeasuredRow, Source
from .wording import METHODS, number_text, problem_of, real_of, shape_of, time_text, used_bytes

CONTENTS = ("input", "a", "b", "dtype_b")  # what arrays hold; their types the arrays themselves say
SIZES = ("m", "k", "n", "rows", "cols", "count")  # parameters that say how large arrays are
MARK = " · measured"
Elements = tuple[tuple[int, ...], str]  # shape and dtype of an array


class Asked(Struct, frozen=True):
    """A launch of the catalogue, of which the time is asked."""

    scenario: str  # its name
    arrays: tuple[Elements, ...]  # in the kernel's order
    grid: Dim3  # blocks
    block: Dim3  # threads
    parameters: Values  # those that are known, by name


def asked_of_values(scenario: str, values: Values) -> Asked:
    """Return the launch of a scenario with these parameters, the others by default; raises CatalogueError."""
    found = find(scenario)
    settled = settle(found, values)
    plan = found.plan(settled)
    arrays = tuple((a.shape, a.dtype) for a in plan.arguments if a.value is None)
    return Asked(scenario, arrays, plan.grid, plan.block, settled)


def asked_of_launch(launch: Launch, values: Values) -> Asked:
    """Return what is asked for a launch with these parameters, of which a trace file says none."""
    arrays = tuple((a.shape, a.dtype) for a in launch.arguments if isinstance(a, Array))
    return Asked(launch.scenario, arrays, launch.grid, launch.block, values)


class MeasuredTime(Struct, frozen=True):
    """The time of a kernel on a device, of the measured row that is nearest to what was asked."""

    measured: MeasuredRow  # the row, and the measurement that it is from
    timing: Timing  # its samples: of the kernel alone with the L2 cache warm, or of a program on the CPU
    asked: Asked  # the launch

    @property
    def device(self) -> str:
        """The GPU of a kernel, the processor of a program: NVIDIA H200."""
        return self.measured.ran_on

    @property
    def row(self) -> Row:
        """What was measured: its parameters, arrays and launch shape."""
        return self.measured.row

    @property
    def microseconds(self) -> float:
        """The median."""
        return self.timing.median

    @property
    def settled(self) -> bool:
        """Whether the median is known to the method's precision, which is 1 %."""
        return self.timing.settled

    @property
    def size(self) -> str:
        """The size that was measured, in few words: 4,096 for M = K = N = 4,096."""
        return _size_text(self.row)

    @property
    def time(self) -> str:
        """The median in words: 19.1 ms, with ~ before it where it is not known to 1 %."""
        return "~" * (not self.settled) + time_text(self.microseconds)

    @property
    def bytes(self) -> int:
        """Bytes that the kernel uses of its arrays, each element once, by formula (modelled)."""
        return used_bytes(self.row)

    @property
    def flop(self) -> int:
        """Floating-point operations, by the catalogue's formula (modelled); 0 where they are not the point."""
        return self.row.flop

    @property
    def gb_per_s(self) -> float:
        """GB/s of what it uses of its arrays: modelled bytes by measured time."""
        return self.bytes / self.microseconds / 1000

    @property
    def gflop_per_s(self) -> float | None:
        """GFLOP/s: modelled operations by measured time, None where there are none to count."""
        return self.flop / self.microseconds / 1000 if self.flop else None

    @property
    def origin(self) -> str:
        """Where it comes from: NVIDIA H200, recorded on 2026-11-21."""
        return f"{self.device}, {self.measured.source.when}"

    @property
    def is_exactly_asked(self) -> bool:
        """Whether the launch itself was measured, but for the values of its elements."""
        return not any(_distance(self.asked, self.row))

    @property
    def figures(self) -> RowFigures:
        """Why it takes so long: occupancy (modelled), and what a profiler counted (measured)."""
        return figures_of(self.row, self.measured.source.measurement.device, self.timing.kind)

    def times_as_fast(self, other: MeasuredTime | None) -> float | None:
        """Return how many times as fast as another it is.

        None where the two are not of the same size, kind and measurement, so that nothing can be compared.
        """
        if other is None or other.measured.source is not self.measured.source:
            return None
        alike = problem_of(self.row) == problem_of(other.row) and self.timing.kind == other.timing.kind
        return other.microseconds / self.microseconds if alike else None


def measured_for(scenario: str, values: Values, sources: Sequence[Source]) -> MeasuredTime | None:
    """Return the time of the nearest row that was measured of a scenario, None where there is none.

    values: the parameters that differ from their defaults. sources: as `sources` has them; what was measured here
    comes first. Panes beside each other ask `measured_together`. Raises CatalogueError.
    """
    return measured_together([asked_of_values(scenario, values)], sources)[0]


def measured_together(asked: Sequence[Asked | None], sources: Sequence[Source]) -> list[MeasuredTime | None]:
    """Return the times of launches that are compared, None for each that was not measured.

    Where it can be they are of one measurement and, where the launches are of one size, of one size too: the
    nearest at which all were measured. What was measured here comes first.
    """
    known = [one for one in asked if one is not None]
    for group in ([s for s in sources if not s.recorded], [s for s in sources if s.recorded]):
        whole = next((s for s in group if known and all(_rows(one, [s]) for one in known)), None)
        if whole is not None:
            return _from_one(asked, whole)
        if any(_rows(one, group) for one in known):
            break
    return [_nearest(one, _first_rows(one, own_first(sources))) if one else None for one in asked]


def shown_times(asked: Sequence[Asked | None], sources: Sequence[Source]) -> list[MeasuredTime | None]:
    """Return for each launch its own measured time, or else the nearest, None where there is none.

    Launches that were all measured in one source take their times from it, so that they can be compared.
    """
    nearest = measured_together(asked, sources)
    exact = _exact_together(asked, own_first(sources))
    return [own or near for own, near in zip(exact, nearest, strict=True)]


def _exact_together(asked: Sequence[Asked | None], sources: Sequence[Source]) -> list[MeasuredTime | None]:
    """Return the times of the launches themselves, None for each that was not measured."""
    by_source = [[_exact(one, source) for one in asked] for source in sources]
    for recorded in (False, True):
        group = [times for times, s in zip(by_source, sources, strict=True) if s.recorded == recorded]
        whole = next((times for times in group if _has_all(times, asked)), None)
        if whole is not None:
            return whole
        if any(time for times in group for time in times):
            break
    return [next(filter(None, column), None) for column in zip(*by_source, strict=True)] or [None] * len(
        asked
    )


def _exact(asked: Asked | None, source: Source) -> MeasuredTime | None:
    time = _nearest(asked, _rows(asked, [source])) if asked else None
    return time if time is not None and time.is_exactly_asked else None


def _has_all(times: Sequence[MeasuredTime | None], asked: Sequence[Asked | None]) -> bool:
    return all(time is not None or one is None for time, one in zip(times, asked, strict=True))


def own_first(sources: Sequence[Source]) -> list[Source]:
    """Return measurements with those that were made here before the others."""
    return sorted(sources, key=lambda source: source.recorded)


def _from_one(asked: Sequence[Asked | None], source: Source) -> list[MeasuredTime | None]:
    rows = [_rows(one, [source]) if one else [] for one in asked]
    sizes = {tuple(sorted(shape for shape, _ in one.arrays)) for one in asked if one}
    problems = [{problem_of(m.row) for m in found} for one, found in zip(asked, rows, strict=True) if one]
    common = set.intersection(*problems)
    if len(sizes) == 1 and common:
        rows = [[m for m in found if problem_of(m.row) in common] for found in rows]
        first = next(place for place, one in enumerate(asked) if one)
        near = _nearest(asked[first], rows[first])
        assert near is not None  # it has a row of every common size
        rows = [[m for m in found if problem_of(m.row) == problem_of(near.row)] for found in rows]
    return [_nearest(one, found) if one else None for one, found in zip(asked, rows, strict=True)]


def _rows(asked: Asked, sources: Sequence[Source]) -> list[MeasuredRow]:
    """Return the rows of a scenario that have a time, none of its baselines'."""
    return [
        MeasuredRow(source, row)
        for source in sources
        for row in source.measurement.rows
        if row.scenario == asked.scenario and not row.baseline and timing_of(row, "kernel-warm")
    ]


def _first_rows(asked: Asked, sources: Sequence[Source]) -> list[MeasuredRow]:
    """Return the rows of the first measurement that has some."""
    return next((rows for source in sources if (rows := _rows(asked, [source]))), [])


def _nearest(asked: Asked | None, rows: Sequence[MeasuredRow]) -> MeasuredTime | None:
    if asked is None or not rows:
        return None
    nearest = min(rows, key=lambda measured: _distance(asked, measured.row))
    timing = timing_of(nearest.row, "kernel-warm")
    assert timing is not None  # the rows were chosen for having it
    return MeasuredTime(nearest, timing, asked)


def _distance(asked: Asked, row: Row) -> tuple[float, ...]:
    """Return how far a row is from what is asked, the weightiest first; zeros where it is just that.

    The types of the arrays, then what work it is (a stride, bins), then the sizes of the arrays in octaves of each
    side, then the threads and how they are launched. What the elements of matrices are is no difference.
    """
    arrays = list(zip(asked.arrays, row.arrays.values(), strict=False))
    types = sum(mine != theirs for (_, mine), (_, theirs) in arrays)
    sides = [pair for (mine, _), (theirs, _) in arrays for pair in zip(mine, theirs, strict=False)]
    threads = _octaves(prod(asked.grid) * prod(asked.block), prod(row.grid) * prod(row.block))
    work = {n: v for n, v in asked.parameters.items() if n not in (*IN_SIZE_AND_SHAPE, *CONTENTS)}
    launched = {n: v for n, v in asked.parameters.items() if n in LAUNCHED}
    shape = _octaves(prod(asked.block), prod(row.block)) + _apart(launched, row)
    return types, _apart(work, row), sum(_octaves(*pair) for pair in sides), threads, shape


def _apart(given: Values, row: Row) -> float:
    """Return how far parameters are from a row's: octaves of a number, one for each other word."""
    known = NEWER | row.parameters
    pairs = [(value, known[name]) for name, value in given.items() if name in known]
    return sum(_octaves(a, b) if isinstance(a, int) and isinstance(b, int) else a != b for a, b in pairs)


def _octaves(a: int, b: int) -> float:
    """Return how many times one number is to be doubled to be the other; below 0, which only files have, it is 0."""
    return abs(log2(max(a, 0) + 1) - log2(max(b, 0) + 1))


def _size_text(row: Row) -> str:
    """Return a row's size in few words: 4,096, or 256 × 512 × 256; other types than float32 with their names."""
    given = row.parameters
    if "k" not in given:
        return problem_of(row)
    sides = [f"{given[name]:,}" for name in ("m", "k", "n")]
    text = sides[0] if len(set(sides)) == 1 else " × ".join(sides)
    return text + (", float64" if real_of(row) == "float64" else "")


def line_text(mine: MeasuredTime, other: MeasuredTime | None) -> str:
    """Return the longest text of a pane's heading: NVIDIA H200, 4,096: 19.1 ms, 7.4 times as fast · measured."""
    return line_texts(mine, other)[0]


def line_texts(mine: MeasuredTime, other: MeasuredTime | None) -> tuple[str, ...]:
    """Return the texts of a pane's heading, from the longest to the shortest.

    Only a launch that was measured itself has a time. Any other names the nearest launch that was measured.
    """
    if not mine.is_exactly_asked:
        return _unmeasured_texts(mine)
    ratio = ratio_text(mine, other)
    time = f"{mine.time}, {ratio} times as fast" if ratio else mine.time
    brief = mine.device.removeprefix("NVIDIA ")
    return (
        f"{mine.device}, {mine.size}: {time}{MARK}",
        f"{brief}, {mine.size}: {time}{MARK}",
        f"{mine.size}: {time}{MARK}",
        f"{time}{MARK}",
        f"{mine.time}{MARK}",
    )


def _unmeasured_texts(mine: MeasuredTime) -> tuple[str, ...]:
    """Return texts that name the launch of a pane and the nearest measured one, by what differs."""
    own, nearest = _size_and_differences(mine)
    return (
        f"not measured at {own} · nearest: {nearest}",
        f"not measured · nearest: {nearest}",
        "not measured at this size",
        "not measured",
    )


def _size_and_differences(mine: MeasuredTime) -> tuple[str, str]:
    """Return the sizes of the launch and of the measured row, each with the parameters and types that differ."""
    asked, row = mine.asked, mine.row
    arrays = dict(zip(row.arrays, asked.arrays, strict=False))
    own_row = msgspec.structs.replace(
        row, parameters=dict(asked.parameters), arrays=arrays, grid=asked.grid, block=asked.block
    )
    known = NEWER | row.parameters
    others = [
        (f"{_words_of(name)} {value}", f"{_words_of(name)} {known[name]}")
        for name, value in asked.parameters.items()
        if name in known and name not in (*SIZES, *CONTENTS, "dtype") and value != known[name]
    ]
    types = _types_text(own_row), _types_text(row)
    if types[0] != types[1]:
        others.append(types)
    own = _sides_text(own_row) if asked.parameters else _shapes_text(asked)
    return (
        ", ".join([own, *(other for other, _ in others)]),
        ", ".join([_sides_text(row), *(other for _, other in others)]),
    )


def _words_of(name: str) -> str:
    """Return a parameter's name as it is read."""
    return name.removeprefix("num_").replace("_", " ")


def _types_text(row: Row) -> str:
    """Return the types of a row's arrays."""
    return " and ".join(dict.fromkeys(dtype for _, dtype in row.arrays.values()))


def _shapes_text(asked: Asked) -> str:
    """Return the shapes of the arrays of a launch, each once."""
    return " and ".join(dict.fromkeys(" × ".join(f"{side:,}" for side in shape) for shape, _ in asked.arrays))


def _sides_text(row: Row) -> str:
    """Return a row's size with every side: 8 × 8 × 8."""
    if "k" in row.parameters:
        return " × ".join(f"{row.parameters[name]:,}" for name in ("m", "k", "n"))
    return problem_of(row).removesuffix(", float64")


def ratio_text(mine: MeasuredTime, other: MeasuredTime | None) -> str:
    """Return how many times as fast as another one is, with two digits or all; "" where it is not faster."""
    ratio = mine.times_as_fast(other)
    if other is None or ratio is None or ratio < 1.05:
        return ""
    rounded = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"
    return "~" * (not (mine.settled and other.settled)) + rounded


def explanation(mine: MeasuredTime, other: MeasuredTime | None) -> str:
    """Return what is to be known of a time: what was measured, where and how, and what is compared with what."""
    parts = [f"{mine.origin}: {_launch_text(mine.row)}."]
    if not mine.is_exactly_asked:
        parts.append(f"The nearest that was measured to what this pane runs: {_asked_text(mine)}.")
    parts.append(f"{METHODS[mine.timing.kind]} Median of {len(mine.timing.microseconds):,}.")
    if not mine.settled:
        parts.append("~: not known to 1 %.")
    parts.append(_rates(mine))
    if other is not None and mine.times_as_fast(other) is None:
        parts.append("Not compared with the other pane: no size of both was measured together.")
    return "\n".join([" ".join(parts), *mine.figures.texts])


def _launch_text(row: Row) -> str:
    """Return all that a time depends on: size, blocks, types, and parameters that these do not say."""
    types = " and ".join(dict.fromkeys(dtype for _, dtype in row.arrays.values()))
    others = [
        f"{n} {v}"
        for n, v in row.parameters.items()
        if n not in (*IN_SIZE_AND_SHAPE, *CONTENTS) and NEWER.get(n) != v
    ]
    return ", ".join(filter(None, (problem_of(row).removesuffix(", float64"), shape_of(row), types, *others)))


def _asked_text(mine: MeasuredTime) -> str:
    """Return the same of the launch in a pane; of one whose sizes a file says, its arrays."""
    asked, row = mine.asked, msgspec.structs.replace(mine.row, grid=mine.asked.grid, block=mine.asked.block)
    if not asked.parameters or asked.parameters.get("a") or asked.parameters.get("b"):
        told = [f"{' × '.join(f'{side:,}' for side in shape)} {dtype}" for shape, dtype in asked.arrays]
        blocks = [] if row.parameters.get("num_blocks") else [shape_of(row)]
        return ", ".join(filter(None, (f"arrays of {' and '.join(dict.fromkeys(told))}", *blocks)))
    arrays = dict(zip(row.arrays, asked.arrays, strict=False))
    given = dict(asked.parameters)
    return _launch_text(msgspec.structs.replace(row, parameters=given, arrays=arrays))


def _rates(mine: MeasuredTime) -> str:
    """Return the modelled rates; what only moves data has no other than bytes."""
    rate = mine.gflop_per_s
    if rate is not None:
        return f"{number_text(rate)} GFLOP/s, modelled operations by measured time."
    return (
        f"{number_text(mine.gb_per_s)} GB/s, modelled bytes by measured time: each element that it uses once."
    )


def chart_of(times: Sequence[MeasuredTime | None], at: MeasuredTime) -> Choice:
    """Return the bars of what panes show, as far as it was measured with one of them: its row is among them."""
    shown = [t for t in times if t is not None and _is_beside(t, at)]
    rows = {id(time.row) for time in shown}
    subjects = tuple(dict.fromkeys(ChartSubject(time.row.scenario) for time in shown))
    for shape in ("", shape_of(at.row), "all"):
        choice = Choice("bars", subjects, at.timing.kind, problem_of(at.row), shape)
        drawn = {id(m.row) for _, found in chosen_rows([at.measured.source], choice) for m in found}
        if rows <= drawn:
            return choice
    exact = dict.fromkeys(ChartSubject(t.row.scenario, values=tuple(t.row.parameters.items())) for t in shown)
    return Choice("bars", tuple(exact), at.timing.kind)


def _is_beside(time: MeasuredTime, at: MeasuredTime) -> bool:
    """Return whether a time belongs into the chart of another one."""
    return time is at or (
        time.measured.source is at.measured.source and problem_of(time.row) == problem_of(at.row)
    )

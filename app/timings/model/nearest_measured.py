"""The measurement nearest to a launch: its time on a device, and its speed-up over another one."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod

import msgspec
from msgspec import Struct

from ....kernels.scenarios.catalogue import Values, find, settle
from ....tracer.hardware.profiling.row_figures import RowFigures, figures_of
from ....tracer.hardware.times.measurement import NEWER, Row, Timing
from ....tracer.model.launch import Array, Dim3, Launch
from .bars import IN_SIZE_AND_SHAPE
from .choice import LAUNCHED, ChartSubject, Choice, chosen_rows, timing_of
from .sources import MeasuredRow, Source
from .wording import METHODS, number_text, problem_of, real_of, shape_of, time_text, used_bytes

CONTENTS = ("input", "a", "b", "dtype_b")  # contents of arrays; the arrays themselves have their types
SIZES = ("m", "k", "n", "rows", "cols", "count")  # parameters that determine the sizes of arrays
MARK = " · measured"
Elements = tuple[tuple[int, ...], str]  # shape and dtype of an array


class LaunchQuery(Struct, frozen=True):
    """A launch of the catalogue whose time is requested."""

    scenario: str  # its name
    arrays: tuple[Elements, ...]  # in the kernel's order
    grid: Dim3  # blocks
    block: Dim3  # threads
    parameters: Values  # the known ones, by name


def query_of_values(scenario: str, values: Values) -> LaunchQuery:
    """Describe the launch of a scenario with these parameters and defaults for the others; raises CatalogueError."""
    described = find(scenario)
    parameters = settle(described, values)
    plan = described.plan(parameters)
    arrays = tuple((a.shape, a.dtype) for a in plan.arguments if a.value is None)
    return LaunchQuery(scenario, arrays, plan.grid, plan.block, parameters)


def query_of_launch(launch: Launch, values: Values) -> LaunchQuery:
    """Describe a launch of a trace file, with the parameters that the file lacks."""
    arrays = tuple((a.shape, a.dtype) for a in launch.arguments if isinstance(a, Array))
    return LaunchQuery(launch.scenario, arrays, launch.grid, launch.block, values)


class MeasuredTime(Struct, frozen=True):
    """The time of a kernel on a device, from the measured row nearest to the requested launch."""

    measured: MeasuredRow  # the row and its measurement
    timing: Timing  # its samples: of only the kernel with a warm L2 cache, or of a program on the CPU
    query: LaunchQuery  # the requested launch

    @property
    def device(self) -> str:
        """The GPU of a kernel, the processor of a program: NVIDIA H200."""
        return self.measured.ran_on

    @property
    def row(self) -> Row:
        """The measured row: parameters, arrays and launch shape."""
        return self.measured.row

    @property
    def microseconds(self) -> float:
        """The median."""
        return self.timing.median

    @property
    def settled(self) -> bool:
        """The median is known to the method's precision, which is 1 %."""
        return self.timing.settled

    @property
    def size(self) -> str:
        """The measured size as short text: 4,096 for M = K = N = 4,096."""
        return _size_text(self.row)

    @property
    def time(self) -> str:
        """The median as text: 19.1 ms, after a ~ if it is not known to 1 %."""
        return "~" * (not self.settled) + time_text(self.microseconds)

    @property
    def bytes(self) -> int:
        """The bytes of its arrays that the kernel uses, each element once, by formula (modelled)."""
        return used_bytes(self.row)

    @property
    def flop(self) -> int:
        """Floating-point operations, by the catalogue's formula (modelled); 0 if they don't matter."""
        return self.row.flop

    @property
    def gb_per_s(self) -> float:
        """GB/s of the array bytes that it uses: modelled bytes divided by measured time."""
        return self.bytes / self.microseconds / 1000

    @property
    def gflop_per_s(self) -> float | None:
        """GFLOP/s: modelled operations divided by measured time; None without operations."""
        return self.flop / self.microseconds / 1000 if self.flop else None

    @property
    def origin(self) -> str:
        """The device and the date: NVIDIA H200, recorded on 2026-11-21."""
        return f"{self.device}, {self.measured.source.when}"

    @property
    def is_exact(self) -> bool:
        """Exactly the requested launch was measured, except for the values of its elements."""
        return not any(_distance(self.query, self.row))

    @property
    def figures(self) -> RowFigures:
        """Explanations of the time: occupancy (modelled), and a profiler's counters (measured)."""
        return figures_of(self.row, self.measured.source.measurement.device, self.timing.kind)

    def speedup_over(self, other: MeasuredTime | None) -> float | None:
        """Compute the speed-up over another time.

        Returns None if the two differ in size, kind or measurement, so that they can't be compared.
        """
        if other is None or other.measured.source is not self.measured.source:
            return None
        alike = problem_of(self.row) == problem_of(other.row) and self.timing.kind == other.timing.kind
        return other.microseconds / self.microseconds if alike else None


def nearest_time(scenario: str, values: Values, sources: Sequence[Source]) -> MeasuredTime | None:
    """Return the time of the nearest measured row of a scenario, or None.

    values: the parameters that differ from their defaults. sources: as returned by `sources`; own measurements come
    first. For panes side by side use `measured_together`. Raises CatalogueError.
    """
    return nearest_times([query_of_values(scenario, values)], sources)[0]


def nearest_times(
    asked: Sequence[LaunchQuery | None], sources: Sequence[Source]
) -> list[MeasuredTime | None]:
    """Return the times of launches that are compared; None for those that were not measured.

    If possible, all times have one measurement and, if the launches have one size, the same measured size: the
    nearest common one. Own measurements come first.
    """
    given = [launch for launch in asked if launch is not None]
    for group in ([s for s in sources if not s.recorded], [s for s in sources if s.recorded]):
        complete = next((s for s in group if given and all(_rows(launch, [s]) for launch in given)), None)
        if complete is not None:
            return _from_one_source(asked, complete)
        if any(_rows(launch, group) for launch in given):
            break
    return [_nearest(launch, _first_rows(launch, own_first(sources))) if launch else None for launch in asked]


def displayed_times(
    asked: Sequence[LaunchQuery | None], sources: Sequence[Source]
) -> list[MeasuredTime | None]:
    """Return the exact measured time of each launch, else the nearest, else None.

    If one source has all launches, all times come from it, so that they can be compared.
    """
    nearest = nearest_times(asked, sources)
    exact = _exact_together(asked, own_first(sources))
    return [own or near for own, near in zip(exact, nearest, strict=True)]


def _exact_together(
    asked: Sequence[LaunchQuery | None], sources: Sequence[Source]
) -> list[MeasuredTime | None]:
    """Return the exact times of the launches; None for those that were not measured."""
    by_source = [[_exact(launch, source) for launch in asked] for source in sources]
    for recorded in (False, True):
        group = [times for times, s in zip(by_source, sources, strict=True) if s.recorded == recorded]
        complete = next((times for times in group if _has_all(times, asked)), None)
        if complete is not None:
            return complete
        if any(time for times in group for time in times):
            break
    return [next(filter(None, column), None) for column in zip(*by_source, strict=True)] or [None] * len(
        asked
    )


def _exact(asked: LaunchQuery | None, source: Source) -> MeasuredTime | None:
    time = _nearest(asked, _rows(asked, [source])) if asked else None
    return time if time is not None and time.is_exact else None


def _has_all(times: Sequence[MeasuredTime | None], asked: Sequence[LaunchQuery | None]) -> bool:
    return all(time is not None or launch is None for time, launch in zip(times, asked, strict=True))


def own_first(sources: Sequence[Source]) -> list[Source]:
    """Sort measurements: own ones before recorded ones."""
    return sorted(sources, key=lambda source: source.recorded)


def _from_one_source(asked: Sequence[LaunchQuery | None], source: Source) -> list[MeasuredTime | None]:
    rows = [_rows(launch, [source]) if launch else [] for launch in asked]
    sizes = {tuple(sorted(shape for shape, _ in launch.arrays)) for launch in asked if launch}
    problems = [
        {problem_of(m.row) for m in measured_rows}
        for launch, measured_rows in zip(asked, rows, strict=True)
        if launch
    ]
    common = set.intersection(*problems)
    if len(sizes) == 1 and common:
        rows = [[m for m in measured_rows if problem_of(m.row) in common] for measured_rows in rows]
        first = next(index for index, launch in enumerate(asked) if launch)
        near = _nearest(asked[first], rows[first])
        assert near is not None  # every common size has a row of it
        rows = [
            [m for m in measured_rows if problem_of(m.row) == problem_of(near.row)] for measured_rows in rows
        ]
    return [
        _nearest(launch, measured_rows) if launch else None
        for launch, measured_rows in zip(asked, rows, strict=True)
    ]


def _rows(asked: LaunchQuery, sources: Sequence[Source]) -> list[MeasuredRow]:
    """List the rows of a scenario that have a time, without its baselines."""
    return [
        MeasuredRow(source, row)
        for source in sources
        for row in source.measurement.rows
        if row.scenario == asked.scenario and not row.baseline and timing_of(row, "kernel-warm")
    ]


def _first_rows(asked: LaunchQuery, sources: Sequence[Source]) -> list[MeasuredRow]:
    """Return the rows of the first measurement that has any."""
    return next((rows for source in sources if (rows := _rows(asked, [source]))), [])


def _nearest(asked: LaunchQuery | None, rows: Sequence[MeasuredRow]) -> MeasuredTime | None:
    if asked is None or not rows:
        return None
    nearest = min(rows, key=lambda measured: _distance(asked, measured.row))
    timing = timing_of(nearest.row, "kernel-warm")
    assert timing is not None  # only rows with this time are chosen
    return MeasuredTime(nearest, timing, asked)


def _distance(asked: LaunchQuery, row: Row) -> tuple[float, ...]:
    """Measure the distance of a row from a requested launch, the weightiest part first; zeros for the same launch.

    The parts are: the types of the arrays, the kind of work (a stride, bins), the sizes of the arrays in octaves (of
    the side that differs most, then of all sides), the threads, and the launch shape. The contents of matrices make no
    difference.
    """
    arrays = list(zip(asked.arrays, row.arrays.values(), strict=False))
    types = sum(type_asked != type_measured for (_, type_asked), (_, type_measured) in arrays)
    sides = [
        pair
        for (shape_asked, _), (shape_measured, _) in arrays
        for pair in zip(shape_asked, shape_measured, strict=False)
    ]
    threads = _octaves(prod(asked.grid) * prod(asked.block), prod(row.grid) * prod(row.block))
    work = {n: v for n, v in asked.parameters.items() if n not in (*IN_SIZE_AND_SHAPE, *CONTENTS)}
    launched = {n: v for n, v in asked.parameters.items() if n in LAUNCHED}
    shape = _octaves(prod(asked.block), prod(row.block)) + _parameter_distance(launched, row)
    octaves = [_octaves(*pair) for pair in sides]
    return types, _parameter_distance(work, row), max(octaves, default=0.0), sum(octaves), threads, shape


def _parameter_distance(given: Values, row: Row) -> float:
    """Measure the distance of parameters from a row's: octaves for numbers, 1 for a different word."""
    measured = NEWER | row.parameters
    pairs = [(value, measured[name]) for name, value in given.items() if name in measured]
    return sum(_octaves(a, b) if isinstance(a, int) and isinstance(b, int) else a != b for a, b in pairs)


def _octaves(a: int, b: int) -> float:
    """Return the absolute log2 of the ratio of two numbers; negative numbers, which only files have, count as 0."""
    return abs(log2(max(a, 0) + 1) - log2(max(b, 0) + 1))


def _size_text(row: Row) -> str:
    """Return a row's size as short text: 4,096, or 256 × 512 × 256; with the type unless it is float32."""
    given = row.parameters
    if "k" not in given:
        return problem_of(row)
    sides = [f"{given[name]:,}" for name in ("m", "k", "n")]
    text = sides[0] if len(set(sides)) == 1 else " × ".join(sides)
    return text + (", float64" if real_of(row) == "float64" else "")


def line_text(time: MeasuredTime, other: MeasuredTime | None) -> str:
    """Return the longest text of a pane's heading: NVIDIA H200, 4,096: 19.1 ms, 7.4 times as fast · measured."""
    return line_texts(time, other)[0]


def line_texts(shown: MeasuredTime, other: MeasuredTime | None) -> tuple[str, ...]:
    """List the texts of a pane's heading, from the longest to the shortest.

    Only an exactly measured launch has a time. Others name the nearest measured launch.
    """
    if not shown.is_exact:
        return _unmeasured_texts(shown)
    ratio = ratio_text(shown, other)
    text = f"{shown.time}, {ratio} times as fast" if ratio else shown.time
    brief = shown.device.removeprefix("NVIDIA ")
    return (
        f"{shown.device}, {shown.size}: {text}{MARK}",
        f"{brief}, {shown.size}: {text}{MARK}",
        f"{shown.size}: {text}{MARK}",
        f"{text}{MARK}",
        f"{shown.time}{MARK}",
    )


def _unmeasured_texts(time: MeasuredTime) -> tuple[str, ...]:
    """List texts that name the pane's launch and the nearest measured one, by their differences."""
    own, nearest = _size_and_differences(time)
    return (
        f"not measured at {own} · nearest: {nearest}",
        f"not measured · nearest: {nearest}",
        "not measured at this size",
        "not measured",
    )


def _size_and_differences(time: MeasuredTime) -> tuple[str, str]:
    """Return the sizes of the requested and of the measured launch, each with the parameters and types that differ."""
    asked, row = time.query, time.row
    arrays = dict(zip(row.arrays, asked.arrays, strict=False))
    own_row = msgspec.structs.replace(
        row, parameters=dict(asked.parameters), arrays=arrays, grid=asked.grid, block=asked.block
    )
    measured = NEWER | row.parameters
    differences = [
        (f"{_parameter_words(name)} {value}", f"{_parameter_words(name)} {measured[name]}")
        for name, value in asked.parameters.items()
        if name in measured and name not in (*SIZES, *CONTENTS, "dtype") and value != measured[name]
    ]
    types = _types_text(own_row), _types_text(row)
    if types[0] != types[1]:
        differences.append(types)
    own = _sides_text(own_row) if asked.parameters else _shapes_text(asked)
    return (
        ", ".join([own, *(other for other, _ in differences)]),
        ", ".join([_sides_text(row), *(other for _, other in differences)]),
    )


def _parameter_words(name: str) -> str:
    """Return a parameter's name as readable text."""
    return name.removeprefix("num_").replace("_", " ")


def _types_text(row: Row) -> str:
    """Return the types of a row's arrays as text."""
    return " and ".join(dict.fromkeys(dtype for _, dtype in row.arrays.values()))


def _shapes_text(asked: LaunchQuery) -> str:
    """Return the distinct shapes of a launch's arrays as text."""
    return " and ".join(dict.fromkeys(" × ".join(f"{side:,}" for side in shape) for shape, _ in asked.arrays))


def _sides_text(row: Row) -> str:
    """Return a row's size with every side: 8 × 8 × 8."""
    if "k" in row.parameters:
        return " × ".join(f"{row.parameters[name]:,}" for name in ("m", "k", "n"))
    return problem_of(row).removesuffix(", float64")


def ratio_text(time: MeasuredTime, other: MeasuredTime | None) -> str:
    """Return the speed-up over another time with at least two digits; "" if it is not faster."""
    ratio = time.speedup_over(other)
    if other is None or ratio is None or ratio < 1.05:
        return ""
    rounded = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"
    return "~" * (not (time.settled and other.settled)) + rounded


def explanation(time: MeasuredTime, other: MeasuredTime | None) -> str:
    """Explain a time: the measured launch, the device, the method, and the comparison."""
    parts = [f"{time.origin}: {_launch_text(time.row)}."]
    if not time.is_exact:
        parts.append(f"This is the nearest measured launch to that of this pane: {_asked_text(time)}.")
    parts.append(f"{METHODS[time.timing.kind]} Median of {len(time.timing.microseconds):,}.")
    if not time.settled:
        parts.append("~: not known to 1 %.")
    parts.append(_rates(time))
    if other is not None and time.speedup_over(other) is None:
        parts.append("Not compared with the other pane: they were not measured together at one size.")
    return "\n".join([" ".join(parts), *time.figures.texts])


def _launch_text(row: Row) -> str:
    """Describe a measured launch: size, blocks, types, and the other parameters."""
    types = " and ".join(dict.fromkeys(dtype for _, dtype in row.arrays.values()))
    others = [
        f"{n} {v}"
        for n, v in row.parameters.items()
        if n not in (*IN_SIZE_AND_SHAPE, *CONTENTS) and NEWER.get(n) != v
    ]
    return ", ".join(filter(None, (problem_of(row).removesuffix(", float64"), shape_of(row), types, *others)))


def _asked_text(time: MeasuredTime) -> str:
    """Describe the launch of a pane in the same way, or by its arrays if a file has no sizes."""
    asked, row = time.query, msgspec.structs.replace(time.row, grid=time.query.grid, block=time.query.block)
    if not asked.parameters or asked.parameters.get("a") or asked.parameters.get("b"):
        texts = [f"{' × '.join(f'{side:,}' for side in shape)} {dtype}" for shape, dtype in asked.arrays]
        blocks = [] if row.parameters.get("num_blocks") else [shape_of(row)]
        return ", ".join(filter(None, (f"arrays of {' and '.join(dict.fromkeys(texts))}", *blocks)))
    arrays = dict(zip(row.arrays, asked.arrays, strict=False))
    given = dict(asked.parameters)
    return _launch_text(msgspec.structs.replace(row, parameters=given, arrays=arrays))


def _rates(time: MeasuredTime) -> str:
    """Return the modelled rate: operations, or bytes for kernels that only move data."""
    rate = time.gflop_per_s
    if rate is not None:
        return f"{number_text(rate)} GFLOP/s: modelled operations divided by measured time."
    return (
        f"{number_text(time.gb_per_s)} GB/s: modelled bytes divided by measured time, each used element once."
    )


def comparison_chart(times: Sequence[MeasuredTime | None], reference: MeasuredTime) -> Choice:
    """Choose the bars of all panes that were measured together with `reference`; its own row is included."""
    shown = [t for t in times if t is not None and _shares_chart(t, reference)]
    rows = {id(time.row) for time in shown}
    subjects = tuple(dict.fromkeys(ChartSubject(time.row.scenario) for time in shown))
    for shape in ("", shape_of(reference.row), "all"):
        choice = Choice("bars", subjects, reference.timing.kind, problem_of(reference.row), shape)
        drawn = {
            id(m.row)
            for _, measured_rows in chosen_rows([reference.measured.source], choice)
            for m in measured_rows
        }
        if rows <= drawn:
            return choice
    exact = dict.fromkeys(ChartSubject(t.row.scenario, values=tuple(t.row.parameters.items())) for t in shown)
    return Choice("bars", tuple(exact), reference.timing.kind)


def _shares_chart(time: MeasuredTime, reference: MeasuredTime) -> bool:
    """Return True if a time can be in the same chart as another one."""
    return time is reference or (
        time.measured.source is reference.measured.source
        and problem_of(time.row) == problem_of(reference.row)
    )

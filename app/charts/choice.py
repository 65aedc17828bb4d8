"""What to draw, and the measured rows that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ...kernels.scenarios.catalogue import Scenario, find, scenarios
from ...kernels.scenarios.scenario import CUBLAS
from ...tracer.measure.measurement import Row, Timing, TimingKind
from .sources import MeasuredRow, Source, all_parameters, rows_of
from .wording import problem_of, real_of, shape_of, side_of

ChartKind = Literal["bars", "ladder", "cublas", "speedup", "scaling", "over", "roofline", "calls", "copies"]
Quantity = Literal["", "time", "rate", "bandwidth"]
CHARTS: tuple[ChartKind, ...] = get_args(ChartKind)
KINDS_OF: dict[ChartKind, tuple[TimingKind, ...]] = {
    "calls": ("first-call", "call", "kernel-warm"),
    "copies": ("with-copies", "call", "kernel-warm"),
}
DEFAULT_SUBJECTS = ("matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled")
LADDER = (  # the same small product, by plain Python, by NumPy and on the GPU
    "python-threads", "python-block-at-a-time", "python-run-threads", "python-loops",
    "matmul-naive-col-on-x/numpy", "matmul-add-into-global", "matmul-naive-row-on-x", "matmul-tiled",
    "cuda-c-naive", "cuda-c-tiled-static",
)  # fmt: skip
TO_CUBLAS = (  # float32 on the GPU, each with one thing more than the one before, and NVIDIA's library
    "matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled", "matmul-column", "matmul-square", "matmul-wide",
    "matmul-two-buffers", "matmul-two-buffers/cublas",
)  # fmt: skip
USUAL_SUBJECTS: dict[ChartKind, tuple[str, ...]] = {"ladder": LADDER, "cublas": TO_CUBLAS}
SHOWN_OF: dict[ChartKind, tuple[Quantity, ...]] = {
    "scaling": ("time", "rate"),
    "over": ("time", "rate", "bandwidth"),
}
SIZES = ("m", "k", "n", "rows", "cols", "count")  # parameters that say how much there is to work on
LAUNCHED = ("tile", "threads", "num_blocks")  # parameters that say how threads are launched
COLOURS = 8  # kernels that can be told apart by colour
MANY = 20  # samples that are worth looking at one by one


class ChartSubject(Struct, frozen=True):
    """A kernel, or one of its baselines; with `values` its rows that have these parameters alone."""

    scenario: str
    baseline: str = ""
    values: tuple[tuple[str, int | str], ...] = ()

    @property
    def key(self) -> str:
        """Its name in a command and in a table."""
        return f"{self.scenario}/{self.baseline}" if self.baseline else self.scenario

    def names(self, row: Row) -> bool:
        """Whether a row is one of its."""
        mine = (row.scenario, row.baseline) == (self.scenario, self.baseline)
        return mine and all(str(row.parameters.get(name)) == str(value) for name, value in self.values)


def title_of(subject: ChartSubject) -> str:
    """Return how a subject is called, whether it was measured or not."""
    scenario = find(subject.scenario)
    beside = [b.title_beside(scenario.title) for b in scenario.baselines if b.name == subject.baseline]
    return next(iter(beside), scenario.title)


def subject_of_key(key: str) -> ChartSubject:
    """Return the subject of a key: `scenario` or `scenario/baseline`."""
    scenario, _, baseline = key.partition("/")
    return ChartSubject(scenario, baseline)


def slots_of(subjects: Sequence[ChartSubject]) -> dict[str, int]:
    """Return the number of the colour of each subject by its key: its own, unless another one has that already.

    So a kernel keeps its colour while others come and go, as far as there are colours.
    """
    order = [name for scenario in scenarios() for name in (scenario.name, *_baselines(scenario))]
    keys = sorted({s.key for s in subjects}, key=lambda key: order.index(key) if key in order else len(order))
    taken: dict[str, int] = {}
    for key in keys:
        wish = order.index(key) if key in order else len(order)
        free = [n for n in range(COLOURS) if n not in taken.values()] or [COLOURS + len(taken)]
        taken[key] = min(free, key=lambda n: (n - wish) % COLOURS)
    return taken


def _baselines(scenario: Scenario) -> list[str]:
    return [f"{scenario.name}/{baseline.name}" for baseline in scenario.baselines]


class Choice(Struct, frozen=True):
    """A chart to draw."""

    chart: ChartKind = "bars"  # which of CHARTS
    subjects: tuple[ChartSubject, ...] = tuple(map(ChartSubject, DEFAULT_SUBJECTS))  # what it compares
    kind: TimingKind = "kernel-warm"  # of the time, where the chart shows one alone
    problem: str = ""  # a size, of `problem_of`; "" for the one that suits best
    shape: str = ""  # of `shape_of`; "" for what a kernel was measured with first, "all" for all of them
    against: str = ""  # the key of what a speed-up is over, "" for the first subject
    log: bool | None = None  # whether the axis is logarithmic, None for what suits
    published: bool = True  # whether published times stand beside the measured ones
    over: str = ""  # the parameter that a chart over one has on its axis, "" for the one with the most values
    show: Quantity = ""  # the one panel to be drawn, "" for all that the chart has

    @property
    def kinds(self) -> tuple[TimingKind, ...]:
        """The kinds of time that the chart shows for each kernel."""
        return KINDS_OF.get(self.chart, (self.kind,))


def is_on_cpu(subject: ChartSubject) -> bool:
    """Return whether a subject is a program on the CPU."""
    if subject.baseline:
        return subject.baseline != CUBLAS
    return find(subject.scenario).engine == "python"


def usual_choice(chart: ChartKind) -> Choice:
    """Return what a chart shows where nothing is named; the ladder to cuBLAS has all launch shapes of its rungs."""
    subjects = tuple(map(subject_of_key, USUAL_SUBJECTS.get(chart, DEFAULT_SUBJECTS)))
    return Choice(chart, subjects, shape="all" if chart == "cublas" else "")


def turned_to(choice: Choice, chart: ChartKind) -> Choice:
    """Return a choice with another chart; a ladder without its lowest or its highest rung is the usual one."""
    lowest = chart == "ladder" and any(map(is_on_cpu, choice.subjects))
    highest = chart == "cublas" and any(subject.baseline == CUBLAS for subject in choice.subjects)
    if chart not in USUAL_SUBJECTS or lowest or highest:
        return replace(choice, chart=chart)
    usual = usual_choice(chart)
    return replace(choice, chart=chart, subjects=usual.subjects, problem="", shape=usual.shape)


def timing_of(row: Row, kind: TimingKind) -> Timing | None:
    """Return a row's timing of a kind; a program on the CPU has one kind but for its first call."""
    if row.timing("cpu") is not None and kind != "first-call":
        return row.timing("cpu")
    return row.timing(kind)


def subjects_of(chosen: Iterable[Source]) -> list[ChartSubject]:
    """Return everything that was measured, in the order of the files."""
    return list({ChartSubject(m.row.scenario, m.row.baseline): None for m in rows_of(chosen)})


def problems(chosen: Sequence[Source], choice: Choice) -> list[str]:
    """Return the sizes at which at least one subject was measured, from the smallest on."""
    rows = [row for row in _timed(chosen, choice) if any(s.names(row) for s in choice.subjects)]
    return list(dict.fromkeys(problem_of(row) for row in sorted(rows, key=lambda row: row.bytes)))


def parameters_to_draw_over(chosen: Sequence[Source], choice: Choice) -> list[str]:
    """Return the parameters in which, and in no others, rows of a subject differ: that with the most values first."""
    rows = _timed(chosen, replace(choice, over=""))
    mine = [[row for row in rows if subject.names(row)] for subject in choice.subjects]
    names = dict.fromkeys(name for row in chain(*mine) for name in row.parameters)
    values = {
        name: max((len(found) for found in map(partial(_varied, name), mine)), default=0) for name in names
    }
    return sorted((name for name in names if values[name] > 1), key=lambda name: -values[name])


def _varied(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that differ in a parameter alone, which is a number; of several such sets the largest.

    Of sets as large it is that with the most bytes.
    """
    alike: dict[object, dict[int, Row]] = {}
    for row in rows:
        value = row.parameters.get(name)
        if isinstance(value, int):
            others = tuple(sorted((n, str(v)) for n, v in all_parameters(row).items() if n != name))
            alike.setdefault(others, {}).setdefault(value, row)
    sets = [list(found.values()) for found in alike.values()]
    return max(sets, key=lambda found: (len(found), sum(row.bytes for row in found)), default=[])


def over_of(chosen: Sequence[Source], choice: Choice) -> str:
    """Return the parameter that a chart over one has on its axis, "" where no rows differ in one alone."""
    return choice.over or next(iter(parameters_to_draw_over(chosen, choice)), "")


def shapes(chosen: Sequence[Source], choice: Choice) -> list[str]:
    """Return the launch shapes in which subjects were measured at the chosen size."""
    problem = problem_for(chosen, choice)
    rows = [row for row in _timed(chosen, choice) if any(s.names(row) for s in choice.subjects)]
    if choice.chart not in ("scaling", "over"):
        rows = [row for row in rows if problem_of(row) == problem]
    return [shape for shape in dict.fromkeys(map(shape_of, rows)) if shape]


def problem_for(chosen: Sequence[Source], choice: Choice) -> str:
    """Return the chosen size, else the largest that all subjects share with many samples, else the next best.

    Of the ladder to cuBLAS it is the largest, however few the samples: the library is for GPUs that are filled.
    """
    offered = problems(chosen, choice)
    if choice.problem in offered:
        return choice.problem
    rows: dict[str, list[Row]] = {}
    for row in _timed(chosen, choice):
        rows.setdefault(problem_of(row), []).append(row)

    def suits(problem: str) -> tuple[int, bool, int]:
        found = [[row for row in rows[problem] if subject.names(row)] for subject in choice.subjects]
        return (
            sum(map(bool, found)),
            choice.chart == "cublas" or all(_well_known(row) for mine in found for row in mine),
            offered.index(problem),
        )

    return max(offered, key=suits, default="")


def _well_known(row: Row) -> bool:
    return all(len(t.microseconds) >= MANY for t in row.timings if t.kind in ("kernel-warm", "kernel-cold"))


def _timed(chosen: Iterable[Source], choice: Choice) -> list[Row]:
    """Return the rows that have every kind of time that the chart needs, and an N where it needs one."""
    rows = [m.row for m in rows_of(chosen) if all(timing_of(m.row, kind) for kind in choice.kinds)]
    if choice.chart == "scaling":
        rows = [row for row in rows if side_of(row) is not None]
    if choice.chart == "over" and choice.over:
        rows = [row for row in rows if isinstance(row.parameters.get(choice.over), int)]
    return [row for row in rows if row.flop] if choice.chart == "roofline" else rows


def chosen_rows(chosen: Sequence[Source], choice: Choice) -> list[tuple[ChartSubject, list[MeasuredRow]]]:
    """Return for each subject the rows to draw, of every source; none where it was not measured like that."""
    if choice.chart == "over":
        return _rows_over(chosen, choice, over_of(chosen, choice))
    problem = problem_for(chosen, choice)
    return [(subject, _of_subject(chosen, choice, subject, problem)) for subject in choice.subjects]


def _rows_over(
    chosen: Sequence[Source], choice: Choice, name: str
) -> list[tuple[ChartSubject, list[MeasuredRow]]]:
    """Return for each subject and source the rows that differ in this parameter alone.

    They are of the size that is chosen, else of that at which the most subjects have such rows, unless the
    parameter itself is the size.
    """
    fitting = {id(row) for row in _timed(chosen, choice)}

    def rows_at(problem: str) -> list[tuple[ChartSubject, list[MeasuredRow]]]:
        found = []
        for subject in choice.subjects:
            mine: list[MeasuredRow] = []
            for source in chosen:
                rows = [r for r in source.measurement.rows if id(r) in fitting and subject.names(r)]
                rows = [
                    r for r in rows if problem in ("", problem_of(r)) and choice.shape in ("", shape_of(r))
                ]
                mine += [MeasuredRow(source, row) for row in _varied(name, rows)]
            found.append((subject, mine))
        return found

    offered = problems(chosen, choice)
    if choice.problem in offered or name in SIZES:
        return rows_at(choice.problem if choice.problem in offered else "")
    at = [rows_at(problem) for problem in offered]  # from the smallest size on
    return max(reversed(at), key=_number_of_points, default=[(subject, []) for subject in choice.subjects])


def _number_of_points(found: Sequence[tuple[ChartSubject, list[MeasuredRow]]]) -> tuple[int, int]:
    """Return how many subjects have a line of points, and how many points there are."""
    return sum(len(rows) > 1 for _, rows in found), sum(len(rows) for _, rows in found)


def _of_subject(
    chosen: Sequence[Source], choice: Choice, subject: ChartSubject, problem: str
) -> list[MeasuredRow]:
    fitting = {id(row) for row in _timed(chosen, choice)}
    found = []
    for source in chosen:
        mine = [m for m in rows_of([source]) if subject.names(m.row) and id(m.row) in fitting]
        if choice.chart == "scaling":
            found += _of_sizes(mine, choice.shape)
        elif subject.values:
            found += mine
        else:
            found += _of_shape([m for m in mine if problem_of(m.row) == problem], choice.shape)
    return found


def _of_sizes(found: list[MeasuredRow], shape: str) -> list[MeasuredRow]:
    """Return a row for each N, all of one dtype and one launch shape, so that a line may join them.

    Of the shape that is asked for, where there is one; else of that with the most sizes, then with the largest.
    """
    alike: dict[tuple[str, str], dict[int, MeasuredRow]] = {}
    for measured in found:
        rows = alike.setdefault((real_of(measured.row), shape_of(measured.row)), {})
        rows.setdefault(side_of(measured.row) or 0, measured)
    asked = [rows for (_, mine), rows in alike.items() if mine == shape]
    best = max(asked or alike.values(), key=lambda rows: (len(rows), max(rows)), default={})
    return list(best.values())


def _of_shape(found: list[MeasuredRow], shape: str) -> list[MeasuredRow]:
    """Return the rows of a launch shape; a kernel without it is drawn as it was measured first."""
    if shape == "all":
        return list({shape_of(m.row): m for m in reversed(found)}.values())[::-1]
    return [m for m in found if shape_of(m.row) == shape][:1] or found[:1]

"""The choice of a chart, and the measured rows that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ....kernels.scenarios.catalogue import Scenario, find, scenarios
from ....kernels.scenarios.scenario import CUBLAS
from ....tracer.hardware.times.measurement import Row, Timing, TimingKind
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
LADDER = (  # the same small product in plain Python, in NumPy and on the GPU
    "python-threads", "python-block-at-a-time", "python-run-threads", "python-loops",
    "matmul-naive-col-on-x/numpy", "matmul-add-into-global", "matmul-naive-row-on-x", "matmul-tiled",
    "cuda-c-naive", "cuda-c-tiled-static",
)  # fmt: skip
LADDER_TO_CUBLAS = (  # float32 on the GPU, each with one improvement more, and NVIDIA's library
    "matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled", "matmul-column", "matmul-square", "matmul-wide",
    "matmul-two-buffers", "matmul-two-buffers/cublas",
)  # fmt: skip
USUAL_SUBJECTS: dict[ChartKind, tuple[str, ...]] = {"ladder": LADDER, "cublas": LADDER_TO_CUBLAS}
SHOWN_OF: dict[ChartKind, tuple[Quantity, ...]] = {
    "scaling": ("time", "rate"),
    "over": ("time", "rate", "bandwidth"),
}
SIZES = ("m", "k", "n", "rows", "cols", "count")  # parameters that determine the amount of work
LAUNCHED = ("tile", "threads", "num_blocks")  # parameters that determine the launch shape
COLOURS = 8  # kernels with distinct colours
MANY = 20  # samples of a row that is measured well


class ChartSubject(Struct, frozen=True):
    """A kernel or one of its baselines; `values` restricts it to rows with these parameters."""

    scenario: str
    baseline: str = ""
    values: tuple[tuple[str, int | str], ...] = ()

    @property
    def key(self) -> str:
        """Its name in commands and in tables."""
        return f"{self.scenario}/{self.baseline}" if self.baseline else self.scenario

    def names(self, row: Row) -> bool:
        """Test whether a row belongs to the subject."""
        has_name = (row.scenario, row.baseline) == (self.scenario, self.baseline)
        return has_name and all(str(row.parameters.get(name)) == str(value) for name, value in self.values)


def title_of(subject: ChartSubject) -> str:
    """Return the title of a subject, measured or not."""
    scenario = find(subject.scenario)
    titles = [b.title_with_kernel(scenario.title) for b in scenario.baselines if b.name == subject.baseline]
    return next(iter(titles), scenario.title)


def subject_of_key(key: str) -> ChartSubject:
    """Return the subject of a key: `scenario` or `scenario/baseline`."""
    scenario, _, baseline = key.partition("/")
    return ChartSubject(scenario, baseline)


def slots_of(subjects: Sequence[ChartSubject]) -> dict[str, int]:
    """Assign a colour number to each subject by key: its own, unless that is taken.

    So a kernel keeps its colour while others come and go, as long as there are colours.
    """
    order = [name for scenario in scenarios() for name in (scenario.name, *_baselines(scenario))]
    keys = sorted({s.key for s in subjects}, key=lambda key: order.index(key) if key in order else len(order))
    taken: dict[str, int] = {}
    for key in keys:
        preferred = order.index(key) if key in order else len(order)
        free = [n for n in range(COLOURS) if n not in taken.values()] or [COLOURS + len(taken)]
        taken[key] = min(free, key=lambda n: (n - preferred) % COLOURS)
    return taken


def _baselines(scenario: Scenario) -> list[str]:
    return [f"{scenario.name}/{baseline.name}" for baseline in scenario.baselines]


Span = tuple[float, float]


class Sight(Struct, frozen=True):
    """The visible part of a chart, as the user zoomed, hid and pointed. The default shows everything."""

    x: Span | None = None  # the visible values of the horizontal axis; None for all
    y: tuple[Span | None, ...] = ()  # of the vertical axis of each plot
    hidden: tuple[str, ...] = ()  # the keys of hidden series
    locked: str = ""  # axes that don't zoom: "", "x", "y" or "xy"
    cursor: int = -1  # the number of the value pointed at, -1 for none


class Choice(Struct, frozen=True):
    """A chart to draw."""

    chart: ChartKind = "bars"  # which of CHARTS
    subjects: tuple[ChartSubject, ...] = tuple(map(ChartSubject, DEFAULT_SUBJECTS))  # what it compares
    kind: TimingKind = "kernel-warm"  # the kind of time, if the chart shows only one
    problem: str = ""  # a size, as `problem_of` returns it; "" for the most suitable one
    shape: str = ""  # as `shape_of` returns it; "" for the first measured shape, "all" for all of them
    against: str = ""  # the key of the baseline of a speed-up, "" for the first subject
    log: bool | None = None  # a logarithmic axis; None for automatic
    published: bool = True  # published times are shown next to the measured ones
    over: str = ""  # the parameter on the axis of an `over` chart, "" for the one with the most values
    show: Quantity = ""  # the only panel to draw, "" for all panels
    sight: Sight = Sight()  # the visible part

    @property
    def kinds(self) -> tuple[TimingKind, ...]:
        """The kinds of time that the chart shows for each kernel."""
        return KINDS_OF.get(self.chart, (self.kind,))


def is_on_cpu(subject: ChartSubject) -> bool:
    """Return True if a subject is a program on the CPU."""
    if subject.baseline:
        return subject.baseline != CUBLAS
    return find(subject.scenario).engine == "python"


def usual_choice(chart: ChartKind) -> Choice:
    """Return the default choice of a chart; the ladder to cuBLAS includes all launch shapes."""
    subjects = tuple(map(subject_of_key, USUAL_SUBJECTS.get(chart, DEFAULT_SUBJECTS)))
    return Choice(chart, subjects, shape="all" if chart == "cublas" else "")


def with_chart(choice: Choice, chart: ChartKind) -> Choice:
    """Change the chart of a choice; a ladder without its lowest or highest rung gets the default subjects."""
    has_lowest = chart == "ladder" and any(map(is_on_cpu, choice.subjects))
    has_highest = chart == "cublas" and any(subject.baseline == CUBLAS for subject in choice.subjects)
    if chart not in USUAL_SUBJECTS or has_lowest or has_highest:
        return replace(choice, chart=chart, sight=Sight())
    default = usual_choice(chart)
    return replace(
        choice, chart=chart, subjects=default.subjects, problem="", shape=default.shape, sight=Sight()
    )


def timing_of(row: Row, kind: TimingKind) -> Timing | None:
    """Return a row's timing of a kind; a program on the CPU has only one kind besides the first call."""
    if row.timing("cpu") is not None and kind != "first-call":
        return row.timing("cpu")
    return row.timing(kind)


def subjects_of(chosen: Iterable[Source]) -> list[ChartSubject]:
    """List all measured subjects, in the order of the files."""
    return list({ChartSubject(m.row.scenario, m.row.baseline): None for m in rows_of(chosen)})


def problems(chosen: Sequence[Source], choice: Choice) -> list[str]:
    """List the sizes at which at least one subject was measured, from the smallest on."""
    rows = [row for row in _timed(chosen, choice) if any(s.names(row) for s in choice.subjects)]
    return list(dict.fromkeys(problem_of(row) for row in sorted(rows, key=lambda row: row.bytes)))


def parameters_to_draw_over(chosen: Sequence[Source], choice: Choice) -> list[str]:
    """List the parameters that can be the only difference of a subject's rows, the one with the most values first."""
    rows = _timed(chosen, replace(choice, over=""))
    subject_rows = [[row for row in rows if subject.names(row)] for subject in choice.subjects]
    names = dict.fromkeys(name for row in chain(*subject_rows) for name in row.parameters)
    values = {
        name: max((len(varied) for varied in map(partial(_varied, name), subject_rows)), default=0)
        for name in names
    }
    return sorted((name for name in names if values[name] > 1), key=lambda name: -values[name])


def _varied(name: str, rows: Sequence[Row]) -> list[Row]:
    """Find the largest set of rows that differ only in this numeric parameter; of equally large sets, the one with
    the most bytes.
    """
    alike: dict[object, dict[int, Row]] = {}
    for row in rows:
        value = row.parameters.get(name)
        if isinstance(value, int):
            others = tuple(sorted((n, str(v)) for n, v in all_parameters(row).items() if n != name))
            alike.setdefault(others, {}).setdefault(value, row)
    sets = [list(values.values()) for values in alike.values()]
    return max(
        sets, key=lambda rows_of_set: (len(rows_of_set), sum(row.bytes for row in rows_of_set)), default=[]
    )


def over_parameter_of(chosen: Sequence[Source], choice: Choice) -> str:
    """Return the parameter on the axis of an `over` chart; "" if no rows differ in only one."""
    return choice.over or next(iter(parameters_to_draw_over(chosen, choice)), "")


def shapes(chosen: Sequence[Source], choice: Choice) -> list[str]:
    """List the launch shapes that were measured at the chosen size."""
    problem = problem_for(chosen, choice)
    rows = [row for row in _timed(chosen, choice) if any(s.names(row) for s in choice.subjects)]
    if choice.chart not in ("scaling", "over"):
        rows = [row for row in rows if problem_of(row) == problem]
    return [shape for shape in dict.fromkeys(map(shape_of, rows)) if shape]


def problem_for(chosen: Sequence[Source], choice: Choice) -> str:
    """Return the chosen size, else the largest that all subjects share with many samples, else the next best.

    The ladder to cuBLAS takes the largest, whatever its samples: the library is made for full GPUs.
    """
    offered = problems(chosen, choice)
    if choice.problem in offered:
        return choice.problem
    rows: dict[str, list[Row]] = {}
    for row in _timed(chosen, choice):
        rows.setdefault(problem_of(row), []).append(row)

    def suitability(problem: str) -> tuple[int, bool, int]:
        subject_rows = [[row for row in rows[problem] if subject.names(row)] for subject in choice.subjects]
        return (
            sum(map(bool, subject_rows)),
            choice.chart == "cublas"
            or all(_is_measured_well(row) for measured in subject_rows for row in measured),
            offered.index(problem),
        )

    return max(offered, key=suitability, default="")


def _is_measured_well(row: Row) -> bool:
    return all(len(t.microseconds) >= MANY for t in row.timings if t.kind in ("kernel-warm", "kernel-cold"))


def _timed(chosen: Iterable[Source], choice: Choice) -> list[Row]:
    """List the rows that have all kinds of time that the chart needs, and a single size if it needs one."""
    rows = [m.row for m in rows_of(chosen) if all(timing_of(m.row, kind) for kind in choice.kinds)]
    if choice.chart == "scaling":
        rows = [row for row in rows if side_of(row) is not None]
    if choice.chart == "over" and choice.over:
        rows = [row for row in rows if isinstance(row.parameters.get(choice.over), int)]
    return [row for row in rows if row.flop] if choice.chart == "roofline" else rows


def chosen_rows(chosen: Sequence[Source], choice: Choice) -> list[tuple[ChartSubject, list[MeasuredRow]]]:
    """List the rows to draw for each subject, of every source; empty if it was not measured like this."""
    if choice.chart == "over":
        return _rows_over(chosen, choice, over_parameter_of(chosen, choice))
    problem = problem_for(chosen, choice)
    return [(subject, _of_subject(chosen, choice, subject, problem)) for subject in choice.subjects]


def _rows_over(
    chosen: Sequence[Source], choice: Choice, name: str
) -> list[tuple[ChartSubject, list[MeasuredRow]]]:
    """List the rows of each subject and source that differ only in this parameter.

    They have the chosen size, else the size at which the most subjects have such rows. A parameter that is the size
    itself has no other size.
    """
    fitting = {id(row) for row in _timed(chosen, choice)}

    def rows_at(problem: str) -> list[tuple[ChartSubject, list[MeasuredRow]]]:
        chosen_of_subjects = []
        for subject in choice.subjects:
            subject_rows: list[MeasuredRow] = []
            for source in chosen:
                rows = [r for r in source.measurement.rows if id(r) in fitting and subject.names(r)]
                rows = [
                    r for r in rows if problem in ("", problem_of(r)) and choice.shape in ("", shape_of(r))
                ]
                subject_rows += [MeasuredRow(source, row) for row in _varied(name, rows)]
            chosen_of_subjects.append((subject, subject_rows))
        return chosen_of_subjects

    offered = problems(chosen, choice)
    if choice.problem in offered or name in SIZES:
        return rows_at(choice.problem if choice.problem in offered else "")
    candidates = [rows_at(problem) for problem in offered]  # from the smallest size on
    return max(
        reversed(candidates), key=_number_of_points, default=[(subject, []) for subject in choice.subjects]
    )


def _number_of_points(chosen: Sequence[tuple[ChartSubject, list[MeasuredRow]]]) -> tuple[int, int]:
    """Count the subjects with a line of points, and all points."""
    return sum(len(rows) > 1 for _, rows in chosen), sum(len(rows) for _, rows in chosen)


def _of_subject(
    chosen: Sequence[Source], choice: Choice, subject: ChartSubject, problem: str
) -> list[MeasuredRow]:
    fitting = {id(row) for row in _timed(chosen, choice)}
    selected = []
    for source in chosen:
        fitting_rows = [m for m in rows_of([source]) if subject.names(m.row) and id(m.row) in fitting]
        if choice.chart == "scaling":
            selected += _of_sizes(fitting_rows, choice.shape)
        elif subject.values:
            selected += fitting_rows
        else:
            selected += _of_shape([m for m in fitting_rows if problem_of(m.row) == problem], choice.shape)
    return selected


def _of_sizes(measured_rows: list[MeasuredRow], shape: str) -> list[MeasuredRow]:
    """Return a row for each N, all of one dtype and one launch shape, so that a line can join them.

    The shape is the requested one, else the one with the most sizes, else with the largest size.
    """
    alike: dict[tuple[str, str], dict[int, MeasuredRow]] = {}
    for measured in measured_rows:
        rows = alike.setdefault((real_of(measured.row), shape_of(measured.row)), {})
        rows.setdefault(side_of(measured.row) or 0, measured)
    requested = [rows for (_, row_shape), rows in alike.items() if row_shape == shape]
    best = max(requested or alike.values(), key=lambda rows: (len(rows), max(rows)), default={})
    return list(best.values())


def _of_shape(measured_rows: list[MeasuredRow], shape: str) -> list[MeasuredRow]:
    """Return the rows of a launch shape; a kernel without it gets its first measured shape."""
    if shape == "all":
        return list({shape_of(m.row): m for m in reversed(measured_rows)}.values())[::-1]
    return [m for m in measured_rows if shape_of(m.row) == shape][:1] or measured_rows[:1]

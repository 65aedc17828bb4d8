"""Builds a figure from measurements and a choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from .bars import ChartRows, call_bars, copy_bars, cublas_bars, ladder_bars, speedup_bars, time_bars
from .choice import (
    ChartKind,
    ChartSubject,
    Choice,
    chosen_rows,
    over_parameter_of,
    subject_of_key,
    timing_of,
    title_of,
)
from .figure import BarPanel, Figure, PointPanel
from .over import over_parameter
from .roofline import on_gpu, roofline
from .scaling import scaling_panels
from .sources import MeasuredRow, Source, rows_of, sources_of
from .wording import METHODS, kind_text, problem_of, shape_of

TITLES: dict[ChartKind, str] = {
    "bars": "Time",
    "ladder": "The ladder from Python to the GPU",
    "cublas": "The ladder to cuBLAS",
    "speedup": "Speed-up",
    "scaling": "Time and rate over size",
    "over": "Over a parameter",
    "roofline": "Roofline",
    "calls": "First call and later calls",
    "copies": "With and without copies",
}
NAMED = 4  # kernels that a note lists by name
MOST_SERIES = 400  # bars or lines of a panel
Panels = tuple[BarPanel | PointPanel, ...]
Builder = Callable[[ChartRows, Choice], tuple[tuple[BarPanel | PointPanel, ...], tuple[str, ...]]]
BUILDERS: dict[ChartKind, Builder] = {
    "bars": time_bars,
    "ladder": ladder_bars,
    "cublas": cublas_bars,
    "speedup": speedup_bars,
    "scaling": scaling_panels,
    "over": over_parameter,
    "roofline": roofline,
    "calls": call_bars,
    "copies": copy_bars,
}


def build(chosen: Sequence[Source], choice: Choice) -> Figure:
    """Build the figure of a choice; without measurements it is empty, with notes that explain why."""
    if choice.chart == "over":
        choice = replace(choice, over=over_parameter_of(chosen, choice))
    rows = chosen_rows(chosen, choice)
    panels, notes = BUILDERS[choice.chart](rows, choice)
    panels, notes = _drawable(tuple(_with_log(panel, choice) for panel in panels), notes)
    drawn = [
        m for _, measured_rows in rows for m in measured_rows if choice.chart != "roofline" or on_gpu(m.row)
    ]
    sources = sources_of(drawn)
    missing = _missing_notes([_missing(s, chosen, choice) for s, measured_rows in rows if not measured_rows])
    return Figure(
        chart=choice.chart,
        title=_title(choice, panels, drawn),
        subtitle=_subtitle(choice, drawn),
        panels=panels,
        origins=tuple(source.line for source in sources),
        method=_method(choice, sources, drawn),
        notes=(*notes, *missing),
    )


def _with_log(panel: BarPanel | PointPanel, choice: Choice) -> BarPanel | PointPanel:
    """Make the vertical axis of points, and both axes of a roofline, logarithmic or linear, if that is chosen."""
    if isinstance(panel, BarPanel) or choice.log is None:
        return panel
    x = replace(panel.x, log=choice.log) if panel.roofs else panel.x
    return replace(panel, x=x, y=replace(panel.y, log=choice.log))


def _drawable(panels: Panels, notes: tuple[str, ...]) -> tuple[Panels, tuple[str, ...]]:
    """Return the panels and their notes; instead of too many series a note with their number."""
    number = max((len(p.bars if isinstance(p, BarPanel) else p.series) for p in panels), default=0)
    if number <= MOST_SERIES:
        return panels, notes
    return (), (
        f"The chart has {number:,} series, but at most {MOST_SERIES} can be drawn; choose fewer kernels.",
    )


def _title(choice: Choice, panels: Sequence[BarPanel | PointPanel], drawn: Sequence[MeasuredRow]) -> str:
    """Return the title of the chart; programs on the CPU keep their one kind of time."""
    if len(choice.kinds) > 1:
        return TITLES[choice.chart]
    kinds = [
        k
        for k in (choice.kind, "cpu")
        if any(timing_of(m.row, choice.kind) is m.row.timing(k) for m in drawn)
    ]
    texts = [kind_text(kind) for kind in dict.fromkeys(kinds or [choice.kind])]
    return f"{_quantity_text(choice, panels)}: {'; '.join(texts)}"


def _quantity_text(choice: Choice, panels: Sequence[BarPanel | PointPanel]) -> str:
    """Describe the content of a chart: for charts over a size or a parameter, the quantities of the panels."""
    planes = [panel for panel in panels if isinstance(panel, PointPanel)]
    if not planes or choice.chart == "roofline":
        return TITLES[choice.chart]
    shown = " and ".join(dict.fromkeys(panel.y.label for panel in planes)).capitalize()
    return f"{shown} over {'size' if choice.chart == 'scaling' else planes[0].x.label}"


def _subtitle(choice: Choice, drawn: Sequence[MeasuredRow]) -> str:
    """Describe the properties that all drawn rows share: size, launch shape, and device."""
    parts: list[str] = []
    problems = dict.fromkeys(problem_of(m.row) for m in drawn)
    if choice.chart not in ("scaling", "over") or len(problems) == 1:
        parts += problems if len(problems) == 1 else []
    shapes = {shape_of(m.row) for m in drawn} - {""}
    parts += shapes if len(shapes) == 1 else []
    parts += dict.fromkeys(m.ran_on for m in drawn)
    return " · ".join(filter(None, parts))


def _method(choice: Choice, sources: Sequence[Source], drawn: Sequence[MeasuredRow]) -> str:
    kinds = list(choice.kinds) if any(not m.row.timing("cpu") for m in drawn) else []
    kinds += ["cpu"] * any(m.row.timing("cpu") for m in drawn)
    sentences = [METHODS[kind] for kind in dict.fromkeys(kinds)]
    precision = max((source.measurement.method.precision for source in sources), default=0.01)
    dots = "Dots: samples. " if choice.chart in ("bars", "ladder", "calls", "copies") else ""
    ends = f"{dots}Median with its 95 % interval; ~ where not known to {precision * 100:g} %."
    return " ".join([*sentences, ends])


def _missing(subject: ChartSubject, chosen: Sequence[Source], choice: Choice) -> tuple[str, str]:
    """Return a subject that is not in the chart, and the reason: "" if it was only not measured like this."""
    rows = [m.row for m in rows_of(chosen) if subject_of_key(subject.key).names(m.row)]
    title, problem = title_of(subject), next((row.problem for row in rows if row.problem), "")
    if problem and not any(row.timings for row in rows):
        return title, problem
    if choice.chart == "roofline" and rows and not any(row.flop for row in rows):
        return title, "No arithmetic to count"
    return title, ""


def _missing_notes(missing: Sequence[tuple[str, str]]) -> list[str]:
    """Write a sentence for each reason, with the titles of the missing subjects."""
    by_reason: dict[str, list[str]] = {}
    for title, reason in sorted(missing, key=lambda pair: bool(pair[1])):
        by_reason.setdefault(reason, []).append(title)
    return [_missing_note(reason, titles) for reason, titles in by_reason.items()]


def _missing_note(reason: str, titles: Sequence[str]) -> str:
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    named = f"{'; '.join(titles[:NAMED])}{more}"
    return f"{named}: {reason}" if reason.endswith(".") else f"{reason or 'Not measured like this'}: {named}."

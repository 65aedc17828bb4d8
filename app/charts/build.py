"""From measurements and a choice to a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .bars import Rows, calls, copies, ladder, speedup, times
from .choose import ChartKind, Choice, chosen_rows, problem_for, timing_of
from .figure import Bars, Figure, Plane
from .roofline import roofline
from .scaling import scaling
from .sources import Measured, Source
from .wording import METHODS, kind_text, shape_of

TITLES: dict[ChartKind, str] = {
    "bars": "Time",
    "ladder": "The ladder from Python to the GPU",
    "speedup": "Speed-up",
    "scaling": "Time and rate over size",
    "roofline": "Roofline",
    "calls": "First call and later calls",
    "copies": "With and without copies",
}
NAMED = 4  # kernels that a note names
Builder = Callable[[Rows, Choice], tuple[tuple[Bars | Plane, ...], tuple[str, ...]]]
BUILDERS: dict[ChartKind, Builder] = {
    "bars": times,
    "ladder": ladder,
    "speedup": speedup,
    "scaling": scaling,
    "roofline": roofline,
    "calls": calls,
    "copies": copies,
}


def build(chosen: Sequence[Source], choice: Choice) -> Figure:
    """Return the figure of a choice; empty, with notes that say why, where nothing was measured for it."""
    rows = chosen_rows(chosen, choice)
    panels, notes = BUILDERS[choice.chart](rows, choice)
    drawn = [m for _, found in rows for m in found]
    sources = list({id(m.source): m.source for m in drawn}.values())
    missing = _missing_text([_missing(s.key, chosen, choice) for s, found in rows if not found])
    return Figure(
        chart=choice.chart,
        title=_title(choice, drawn),
        subtitle=_subtitle(chosen, choice, drawn),
        panels=panels,
        origins=tuple(source.line for source in sources),
        method=_method(choice, sources, drawn),
        notes=(*notes, *missing),
    )


def _title(choice: Choice, drawn: Sequence[Measured]) -> str:
    """Return what the chart shows; a program on the CPU has one kind of time whatever is chosen for kernels."""
    if len(choice.kinds) > 1:
        return TITLES[choice.chart]
    kinds = [
        k
        for k in (choice.kind, "cpu")
        if any(timing_of(m.row, choice.kind) is m.row.timing(k) for m in drawn)
    ]
    texts = [kind_text(kind) for kind in dict.fromkeys(kinds or [choice.kind])]
    return f"{TITLES[choice.chart]}: {'; '.join(texts)}"


def _subtitle(chosen: Sequence[Source], choice: Choice, drawn: Sequence[Measured]) -> str:
    parts = []
    if choice.chart != "scaling" and not all(s.values for s in choice.subjects):
        parts.append(problem_for(chosen, choice))
    shapes = {shape_of(m.row) for m in drawn} - {""}
    parts += shapes if len(shapes) == 1 else []
    parts += dict.fromkeys(_ran_on(m) for m in drawn)
    return " · ".join(filter(None, parts))


def _ran_on(measured: Measured) -> str:
    """Return the GPU of a kernel, the processor of a program."""
    measurement = measured.source.measurement
    on_cpu = measured.row.timing("cpu") is not None or measurement.device is None
    return measurement.host.processor if on_cpu else measured.source.device


def _method(choice: Choice, sources: Sequence[Source], drawn: Sequence[Measured]) -> str:
    kinds = list(choice.kinds) if any(not m.row.timing("cpu") for m in drawn) else []
    kinds += ["cpu"] * any(m.row.timing("cpu") for m in drawn)
    sentences = [METHODS[kind] for kind in dict.fromkeys(kinds)]
    precision = max((source.measurement.method.precision for source in sources), default=0.01)
    dots = "Dots: samples. " if choice.chart in ("bars", "ladder", "calls", "copies") else ""
    ends = f"{dots}Median with its 95 % interval; ~ where not known to {precision * 100:g} %."
    return " ".join([*sentences, ends])


def _missing(key: str, chosen: Sequence[Source], choice: Choice) -> str:
    """Return why a subject is not in the chart in one sentence, just its title where it was not measured."""
    scenario, _, baseline = key.partition("/")
    rows = [
        row
        for source in chosen
        for row in source.measurement.rows
        if (row.scenario, row.baseline) == (scenario, baseline)
    ]
    if not rows:
        return key
    problem = next((row.problem for row in rows if row.problem), "")
    if problem and not any(row.timings for row in rows):
        return f"{rows[0].title}: {problem}"
    if choice.chart == "roofline" and not any(row.flop for row in rows):
        return f"{rows[0].title} has no arithmetic to count."
    return rows[0].title


def _missing_text(found: Sequence[str]) -> list[str]:
    """Return the reasons as they are, and in one sentence what was just not measured."""
    titles = [text for text in found if not text.endswith(".")]
    more = f" and {len(titles) - NAMED} others" if len(titles) > NAMED else ""
    sentence = f"Not measured like this: {'; '.join(titles[:NAMED])}{more}."
    return [*([sentence] if titles else []), *(text for text in found if text.endswith("."))]

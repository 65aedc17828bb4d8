"""A chart as a line of text, for bookmarks, lectures and `tilescope export timings`, and the parser of such lines.

    scaling matmul-naive-row-on-x matmul-tiled
    bars matmul-tiled matmul-tiled/numpy size=4096 time=kernel-cold
    speedup matmul-tiled:tile=8 matmul-tiled:tile=16 against=matmul-naive-col-on-x
    over stride copy-stride show=bandwidth

The first word is the chart. After `over` comes the parameter, then the subjects, then `key=value` pairs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from ....kernels.scenarios.catalogue import CatalogueError, find
from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.hardware.times.measurement import TIMING_KINDS
from .choice import (
    CHARTS,
    SHOWN_OF,
    ChartSubject,
    Choice,
    Sight,
    Span,
    problems,
    shapes,
    usual_choice,
)
from .sources import Source, sources

AXES = {"auto": None, "linear": False, "log": True}
YES = {"yes": True, "no": False}
USUAL = Choice()
FLOAT64 = ", float64"  # the end of a size of that type


def parse_choice(text: str, chosen: Sequence[Source] | None = None) -> Choice:
    """Parse a line that names a chart.

    chosen: the measurements with the possible sizes and blocks, by default all on this machine. Raises
    CatalogueError, a ValueError with one sentence, for an unknown chart, kernel, parameter, key or value, and for a
    size or blocks that were not measured.
    """
    return choice_of_words(text.split(), chosen)


def choice_of_words(words: Sequence[str], chosen: Sequence[Source] | None = None) -> Choice:
    """Parse a chart from separate words; see `parse_choice`."""
    if not words:
        raise CatalogueError(f"no chart is named; there are {', '.join(CHARTS)}.")
    chart, *rest = words
    if chart not in CHARTS:
        raise CatalogueError(f"no chart is called {chart!r}{did_you_mean(chart, CHARTS)}")
    choice = replace(USUAL, chart=chart)
    if chart == "over":
        if not rest or "=" in rest[0]:
            raise CatalogueError("over needs the name of a parameter, for example: over stride copy-stride.")
        choice, rest = replace(choice, over=rest[0]), rest[1:]
    keys = [word for word in rest if "=" in word.partition(":")[0]]
    named = tuple(dict.fromkeys(subject_of(word) for word in rest if word not in keys))
    default = usual_choice(chart)
    choice = (
        replace(choice, subjects=named)
        if named
        else replace(choice, subjects=default.subjects, shape=default.shape)
    )
    _check_over(choice)
    for word in keys:
        choice = _with(choice, word, chosen)
    return choice


def subject_of(word: str) -> ChartSubject:
    """Parse a subject `NAME[/BASELINE][:m=64,tile=16]`; raises CatalogueError."""
    names, colon, rest = word.partition(":")
    name, slash, baseline = names.partition("/")
    scenario = find(name)
    baselines = [b.name for b in scenario.baselines]
    if slash and baseline not in baselines:
        raise CatalogueError(f"{name} has no baseline {baseline!r}; it has {', '.join(baselines) or 'none'}.")
    pairs = [part.partition("=") for part in rest.split(",")] if colon else []
    parameters = [parameter.name for parameter in scenario.parameters]
    for key, equals, value in pairs:
        if key not in parameters or not (equals and value):
            available = ", ".join(parameters) or "none"
            raise CatalogueError(f"{key!r} is not a parameter of {names}; there are {available}.")
    return ChartSubject(name, baseline, tuple((key, value) for key, _, value in pairs))


def _check_over(choice: Choice) -> None:
    """Raise CatalogueError if no subject has the parameter of an `over` chart."""
    parameters = dict.fromkeys(p.name for s in choice.subjects for p in find(s.scenario).parameters)
    if choice.over and choice.over not in parameters:
        names = " or ".join(dict.fromkeys(s.scenario for s in choice.subjects))
        raise CatalogueError(
            f"{names} has no parameter {choice.over!r}{did_you_mean(choice.over, parameters)}"
        )


# Keys and their values.


def _with(choice: Choice, word: str, chosen: Sequence[Source] | None) -> Choice:
    """Apply a `key=value` pair to the choice."""
    key, _, value = word.partition("=")
    if key not in READERS:
        raise CatalogueError(f"{key!r} in {word} is not an option of a chart{did_you_mean(key, READERS)}")
    return READERS[key](choice, value, chosen)


def _with_size(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    offered = {size_word(text): text for text in problems(_measured(chosen), replace(choice, shape=""))}
    word = value.replace("×", "x")
    double = f"{word},float64"  # if the size was measured only in float64
    word = double if double in offered and word not in offered else word
    return replace(choice, problem=_one_of("size", word, offered, "was not measured"))


def _with_blocks(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    measured = _measured(chosen)
    choices = [replace(choice, problem=problem, shape="") for problem in problems(measured, choice)]
    texts = dict.fromkeys(shape for each in choices for shape in shapes(measured, each))
    offered = {"all": "all", **{blocks_word(text): text for text in texts}}
    return replace(choice, shape=_one_of("blocks", value.replace("×", "x"), offered, "was not measured"))


def _measured(chosen: Sequence[Source] | None) -> Sequence[Source]:
    return sources()[0] if chosen is None else chosen


def _with_against(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    return replace(choice, against=subject_of(value).key)


def _with_show(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    panels = SHOWN_OF.get(choice.chart, ())
    if not panels:
        raise CatalogueError(f"show={value} is for {' and '.join(SHOWN_OF)}; {choice.chart} has one panel.")
    return replace(choice, show=_one_of("show", value, {panel: panel for panel in panels}))


def _reader(field: str, key: str, values: dict[str, Any]) -> Callable[..., Choice]:
    """Create a function that reads one of some words into a field of a choice."""
    return lambda choice, value, _: replace(choice, **{field: _one_of(key, value, values)})


def _one_of(key: str, value: str, values: dict[str, Any], problem: str = "is not known") -> Any:
    """Look up the value of a word; raises CatalogueError with the possible words."""
    if value in values:
        return values[value]
    available = ", ".join(values) or "none"
    raise CatalogueError(f"{key}={value} {problem}; there are {available}.")


def _with_x(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    return replace(choice, sight=replace(choice.sight, x=_span("x", value)))


def _with_y(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    spans = tuple(None if word == "auto" else _span("y", word) for word in value.split(","))
    return replace(choice, sight=replace(choice.sight, y=spans))


def _span(key: str, word: str) -> Span:
    """Read the two ends of an axis, in the values of the axis: 100:2500."""
    try:
        low, high = map(float, word.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise CatalogueError(
            f"{key}={word} is no range; write the lower and the upper end, as in {key}=100:2500."
        )
    return low, high


def _with_hidden(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    return replace(choice, sight=replace(choice.sight, hidden=tuple(filter(None, value.split(",")))))


def _with_locked(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    return replace(
        choice, sight=replace(choice.sight, locked=_one_of("lock", value, {w: w for w in ("x", "y", "xy")}))
    )


def _with_cursor(choice: Choice, value: str, chosen: Sequence[Source] | None) -> Choice:
    if not value.isdecimal() or int(value) < 1:
        raise CatalogueError(f"at={value} is no number of a bar or point; the first one is at=1.")
    return replace(choice, sight=replace(choice.sight, cursor=int(value) - 1))


READERS: dict[str, Callable[[Choice, str, Sequence[Source] | None], Choice]] = {
    "size": _with_size,
    "time": _reader("kind", "time", {kind: kind for kind in TIMING_KINDS}),
    "blocks": _with_blocks,
    "against": _with_against,
    "axis": _reader("log", "axis", AXES),
    "show": _with_show,
    "published": _reader("published", "published", YES),
    "x": _with_x,
    "y": _with_y,
    "hide": _with_hidden,
    "lock": _with_locked,
    "at": _with_cursor,
}


# From a choice to its words.


def choice_text(choice: Choice) -> str:
    """Return the line of text that names a choice, without its default values."""
    words = [choice.chart, choice.over, *map(_subject_word, choice.subjects)]
    keys = {
        "size": size_word(choice.problem),
        "time": choice.kind if choice.kind != USUAL.kind else "",
        "blocks": blocks_word(choice.shape),
        "against": choice.against,
        "axis": next(word for word, log in AXES.items() if log is choice.log)
        if choice.log is not None
        else "",
        "show": choice.show,
        "published": "" if choice.published else "no",
        **_sight_words(choice.sight),
    }
    return " ".join(filter(None, (*words, *(f"{key}={value}" for key, value in keys.items() if value))))


def _sight_words(sight: Sight) -> dict[str, str]:
    """Return the words of a visible part; "" for what is as usual."""
    return {
        "x": _span_word(sight.x) if sight.x else "",
        "y": ",".join(_span_word(span) if span else "auto" for span in sight.y),
        "hide": ",".join(sight.hidden),
        "lock": sight.locked,
        "at": str(sight.cursor + 1) if sight.cursor >= 0 else "",
    }


def _span_word(span: Span) -> str:
    return ":".join(f"{end:.6g}" for end in span)


def _subject_word(subject: ChartSubject) -> str:
    values = ",".join(f"{name}={value}" for name, value in subject.values if value != "")
    return f"{subject.key}:{values}" if values else subject.key


def size_word(problem: str) -> str:
    """Return a size of `problem_of` as one word: 4096, 256x512x256, 512,float64; "" for none."""
    sides = "x".join(_numbers(problem.removesuffix(FLOAT64)))
    return f"{sides},float64" if problem.endswith(FLOAT64) else sides


def blocks_word(shape: str) -> str:
    """Return a launch shape of `shape_of` as one word: 16x16, or 64of128 for 64 blocks of 128; "" for none."""
    if shape == "all":
        return shape
    count, _, threads = shape.partition(" of ")
    return "of".join(filter(None, ("".join(_numbers(count)), "x".join(_numbers(threads)))))


def _numbers(text: str) -> Iterable[str]:
    return (number.replace(",", "") for number in re.findall(r"\d[\d,]*(?<!,)", text))

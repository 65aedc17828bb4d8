"""`tilescope export timings`: a chart of measured times as a file, without a screen."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ...kernels.scenarios.catalogue import CatalogueError, find
from ...tracer.measure.measurement import TIMING_KINDS, load
from ..charts.build import build
from ..charts.choice import CHARTS, DEFAULT_SUBJECTS, LADDER, ChartSubject, Choice
from ..charts.sources import Source, sources
from ..charts.vocabulary import in_words, words_of
from ..model.vocabulary import WORD_CHOICES
from ..timings.export import SUFFIXES, Page, write_figure
from ..widgets.widget_picture import draw_without_screen
from .arguments import Parser, UsageError, number_between, picture_size
from .text_output import say


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Draw measured times: the recorded ones, or those of a file that tilescope measure wrote."
    )
    parser.epilog = f"Kinds of time: {'; '.join(f'{kind}: {text}' for kind, text in TIMING_KINDS.items())}."
    parser.add_argument(
        "scenario",
        nargs="*",
        help="NAME, NAME/BASELINE as vector-increment/numpy, or with parameters as matmul-tiled:m=1024,tile=32; "
        "without parameters the largest size that all were measured at; without names naive "
        "beside tiled, for a ladder plain Python, NumPy and kernels",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=", ".join(SUFFIXES))
    parser.add_argument("--chart", choices=CHARTS, default="bars")
    parser.add_argument(
        "--kind", choices=tuple(TIMING_KINDS), default="kernel-warm", help="of time (kernel-warm)"
    )
    parser.add_argument(
        "--from", dest="source", action="append", default=[], metavar="FILE", help="a measurement"
    )
    parser.add_argument("--over", metavar="NAME", help="what a speed-up is over; else the first scenario")
    parser.add_argument("--axis", choices=("auto", "linear", "log"), default="auto", help="of bars")
    parser.add_argument("--all-blocks", action="store_true", help="every block shape that was measured")
    parser.add_argument("--no-published", action="store_true", help="without the figures of the documents")
    parser.add_argument(
        "--words", choices=WORD_CHOICES, default="own", help="for blocks and threads (the kernels' own)"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument(
        "--size", type=picture_size(16384), default=(1600, 900), metavar="1600x900", help="in pixels"
    )
    parser.add_argument(
        "--text-size",
        type=number_between(0.5, 2),
        default=1.0,
        metavar="1.0",
        help="0.5 to 2, as far as all fits",
    )


def execute(chosen: Namespace) -> int:
    """Write the chart that is described.

    Raises UsageError, CatalogueError, MeasurementError and PictureError, whose text is a sentence for the user.
    """
    path = Path(chosen.output)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    choice = _choice_of(chosen)
    figure = build(_sources(chosen.source), choice)
    figure = in_words(figure, words_of(chosen.words, choice.subjects))
    if path.suffix.lower() not in (".csv", ".json"):
        _start_qt()
    write_figure(figure, path, Page(chosen.size, chosen.theme, chosen.text_size))
    say(path)
    return 0


def _choice_of(chosen: Namespace) -> Choice:
    usual = LADDER if chosen.chart == "ladder" else DEFAULT_SUBJECTS
    return Choice(
        chart=chosen.chart,
        subjects=tuple(dict.fromkeys(subject_of(spec) for spec in chosen.scenario or usual)),
        kind=chosen.kind,
        shape="all" if chosen.all_blocks else "",
        against=chosen.over or "",
        log=None if chosen.axis == "auto" else chosen.axis == "log",
        published=not chosen.no_published,
    )


def subject_of(spec: str) -> ChartSubject:
    """Return what `NAME[/BASELINE][:m=64,tile=16]` names; raises CatalogueError or UsageError."""
    names, colon, rest = spec.partition(":")
    name, slash, baseline = names.partition("/")
    scenario = find(name)
    known = [b.name for b in scenario.baselines]
    if slash and baseline not in known:
        raise CatalogueError(f"{name} has no baseline {baseline!r}; it has {', '.join(known) or 'none'}.")
    pairs = [part.partition("=") for part in rest.split(",")] if colon else []
    parameters = [parameter.name for parameter in scenario.parameters]
    for key, equals, value in pairs:
        if key not in parameters or not (equals and value):
            raise UsageError(
                f"{key!r} after {names}: is no parameter; there are {', '.join(parameters) or 'none'}."
            )
    return ChartSubject(name, baseline, tuple((key, value) for key, _, value in pairs))


def _sources(files: Sequence[str]) -> list[Source]:
    """Return the named measurements, else those that Tilescope brings along."""
    if files:
        return [Source(path, load(path)) for path in dict.fromkeys(map(Path, files))]
    return [source for source in sources()[0] if source.recorded]


def _start_qt() -> None:
    draw_without_screen()
    from ..window.start import application

    application()

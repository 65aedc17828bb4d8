"""`tilescope export timings`: a chart of measured times as a file, without a screen."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ...tracer.measure.measurement import TIMING_KINDS, load
from ..charts.build import build
from ..charts.choice import CHARTS
from ..charts.choice_text import choice_of_words
from ..charts.sources import Source, sources
from ..charts.vocabulary import in_words, words_of
from ..model.vocabulary import WORD_CHOICES
from ..timings.export import SUFFIXES, Page, write_figure
from ..widgets.widget_picture import draw_without_screen
from .common.arguments import Parser, UsageError, number_between, picture_size
from .common.text_output import say


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
        "beside tiled, for a ladder plain Python, NumPy and kernels. Or a whole chart in the words of a "
        "lecture, as: over stride copy-stride show=bandwidth; scaling matmul-tiled; bars matmul-tiled size=4096",
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
    found = _sources(chosen.source)
    choice = choice_of_words(_words_of(chosen), found)
    figure = build(found, choice)
    figure = in_words(figure, words_of(chosen.words, choice.subjects))
    if path.suffix.lower() not in (".csv", ".json"):
        _start_qt()
    write_figure(figure, path, Page(chosen.size, chosen.theme, chosen.text_size))
    say(path)
    return 0


def _words_of(chosen: Namespace) -> list[str]:
    """Return the chart as one line of words, in which a lecture would have it."""
    named = (
        chosen.scenario
        if chosen.scenario[:1] in [[chart] for chart in CHARTS]
        else [chosen.chart, *chosen.scenario]
    )
    options = {
        "time": "" if chosen.kind == "kernel-warm" else chosen.kind,
        "blocks": "all" if chosen.all_blocks else "",
        "against": chosen.over,
        "axis": "" if chosen.axis == "auto" else chosen.axis,
        "published": "no" if chosen.no_published else "",
    }
    return [*named, *(f"{key}={value}" for key, value in options.items() if value)]


def _sources(files: Sequence[str]) -> list[Source]:
    """Return the named measurements, else those that Tilescope brings along."""
    if files:
        return [Source(path, load(path)) for path in dict.fromkeys(map(Path, files))]
    return [source for source in sources()[0] if source.recorded]


def _start_qt() -> None:
    draw_without_screen()
    from ..window.start import application

    application()

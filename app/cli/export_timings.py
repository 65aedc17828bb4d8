"""`tilescope export timings`: write a chart of measured times to a file, without a screen."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ...tracer.hardware.times.measurement import TIMING_KINDS, load
from ..model.vocabulary import WORD_CHOICES
from ..timings.export import SUFFIXES, Page, write_figure
from ..timings.model.build import build
from ..timings.model.choice import CHARTS
from ..timings.model.choice_text import choice_of_words
from ..timings.model.sources import Source, sources
from ..timings.model.vocabulary import terminology_of, with_terminology
from ..widgets.widget_picture import use_offscreen_platform
from .common.arguments import Parser, UsageError, number_between, picture_size
from .common.text_output import print_escaped


def add_arguments(parser: Parser) -> None:
    parser.description = "Draw measured times: the included ones, or those of a file of tilescope measure."
    parser.epilog = f"Kinds of time: {'; '.join(f'{kind}: {text}' for kind, text in TIMING_KINDS.items())}."
    parser.add_argument(
        "scenario",
        nargs="*",
        help="NAME, NAME/BASELINE as in vector-increment/numpy, or with parameters as in matmul-tiled:m=1024,tile=32; "
        "without parameters the largest size with measurements of all; without names a naive "
        "and a tiled product; for a ladder plain Python, NumPy and kernels. Or a chart as in a "
        "lecture: over stride copy-stride show=bandwidth; scaling matmul-tiled; bars matmul-tiled size=4096",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=", ".join(SUFFIXES))
    parser.add_argument("--chart", choices=CHARTS, default="bars")
    parser.add_argument(
        "--kind", choices=tuple(TIMING_KINDS), default="kernel-warm", help="the kind of time (kernel-warm)"
    )
    parser.add_argument(
        "--from", dest="source", action="append", default=[], metavar="FILE", help="a file of measurements"
    )
    parser.add_argument("--over", metavar="NAME", help="the base of speed-ups; else the first scenario")
    parser.add_argument("--axis", choices=("auto", "linear", "log"), default="auto", help="the scale of bars")
    parser.add_argument("--all-blocks", action="store_true", help="include every measured block shape")
    parser.add_argument("--no-published", action="store_true", help="leave out the published figures")
    parser.add_argument(
        "--words",
        choices=WORD_CHOICES,
        default="own",
        help="the terms for blocks and threads (the kernels' own)",
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
        help="0.5 to 2, as far as the text fits",
    )


def execute(chosen: Namespace) -> int:
    """Write the chart.

    Raises UsageError, CatalogueError, MeasurementError and PictureError, with sentences for the user.
    """
    path = Path(chosen.output)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    sources_used = _sources(chosen.source)
    choice = choice_of_words(_chart_words(chosen), sources_used)
    figure = build(sources_used, choice)
    figure = with_terminology(figure, terminology_of(chosen.words, choice.subjects))
    if path.suffix.lower() not in (".csv", ".json", ".py"):
        _start_qt()
    write_figure(figure, path, Page(chosen.size, chosen.theme, chosen.text_size))
    print_escaped(path)
    return 0


def _chart_words(chosen: Namespace) -> list[str]:
    """Build the chart's words, as a lecture would contain them."""
    subjects = (
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
    return [*subjects, *(f"{key}={value}" for key, value in options.items() if value)]


def _sources(files: Sequence[str]) -> list[Source]:
    """Load the named measurements, or else the included ones."""
    if files:
        return [Source(path, load(path)) for path in dict.fromkeys(map(Path, files))]
    return [source for source in sources()[0] if source.recorded]


def _start_qt() -> None:
    use_offscreen_platform()
    from ..window.start import application

    application()

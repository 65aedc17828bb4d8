"""`tilescope export timings`: a chart of measured times as a file, without a screen."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..kernels.catalogue import CatalogueError, find
from ..tracer.measurement import TIMING_KINDS, load
from .chart_files import SUFFIXES, Page, write_figure
from .charts.build import build
from .charts.choose import CHARTS, DEFAULT_SUBJECTS, LADDER, Choice, Subject
from .charts.sources import Source, sources
from .charts.words import in_words, words_of
from .parser import Parser, UsageError
from .vocabulary import WORDS


def export(arguments: list[str]) -> int:
    """Write the chart that the arguments describe; return the exit status.

    Raises UsageError, CatalogueError, MeasurementError and PictureError, whose text is a sentence for the user.
    """
    chosen = _parser().parse_args(arguments)
    path = Path(chosen.output)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    usual = LADDER if chosen.chart == "ladder" else DEFAULT_SUBJECTS
    choice = Choice(
        chart=chosen.chart,
        subjects=tuple(dict.fromkeys(subject_of(spec) for spec in chosen.scenario or usual)),
        kind=chosen.kind,
        shape="all" if chosen.all_blocks else "",
        against=chosen.over or "",
        log=None if chosen.axis == "auto" else chosen.axis == "log",
        published=not chosen.no_published,
    )
    figure = build(_sources(chosen.source), choice)
    figure = in_words(figure, words_of(chosen.words, choice.subjects))
    _without_screen(path)
    write_figure(figure, path, Page(chosen.size, chosen.theme, chosen.text_size))
    print(path)
    return 0


def subject_of(spec: str) -> Subject:
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
    return Subject(name, baseline, tuple((key, value) for key, _, value in pairs))


def _sources(files: Sequence[str]) -> list[Source]:
    """Return the named measurements, else those that Tilescope brings along."""
    if files:
        return [Source(path, load(path)) for path in dict.fromkeys(map(Path, files))]
    return [source for source in sources()[0] if source.recorded]


def _without_screen(path: Path) -> None:
    """Start what draws, where it is needed, on a platform without a screen if there is none."""
    if path.suffix.lower() in (".csv", ".json"):
        return
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not screen:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from .run import application

    application()


def _parser() -> Parser:
    parser = Parser(
        prog="tilescope export timings",
        description="Draw measured times: the recorded ones, or those of a file that tilescope measure wrote.",
        epilog=f"Kinds of time: {'; '.join(f'{kind}: {text}' for kind, text in TIMING_KINDS.items())}.",
    )
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
        "--words", choices=WORDS, default="own", help="for blocks and threads (the kernels' own)"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--size", type=_size, default=(1600, 900), metavar="1600x900", help="in pixels")
    parser.add_argument(
        "--text-size", type=_text_size, default=1.0, metavar="1.0", help="0.5 to 2, as far as all fits"
    )
    return parser


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not all(part.isascii() and part.isdigit() and 320 <= int(part) <= 16384 for part in (width, height)):
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT, each 320 to 16384, not {text!r}")
    return int(width), int(height)


def _text_size(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 2:
        raise argparse.ArgumentTypeError(f"must be a number from 0.5 to 2, not {text!r}")
    return value

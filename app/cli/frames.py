"""`tilescope frames`: draw the key moments of a comparison: the start, each of the first phases, the end."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

from msgspec import Struct

from ..model.first_bookmark import DEFAULT_PAIR
from ..model.phase_steps import block_span, phase_span
from ..model.session import Session
from ..views.common.wording import phase_text
from .common.arguments import Parser, UsageError, add_look, add_scenarios, check_scenarios
from .common.text_output import print_escaped
from .counters import counters_table, trace_sessions
from .pictures.snapshot import snapshot

PHASES = 4  # of the first block that are drawn one by one; the later ones repeat them


class KeyMoment(Struct, frozen=True):
    """A moment and a file name for its picture: `compute-tile-0`."""

    moment: int
    name: str


def add_arguments(parser: Parser) -> None:
    parser.description = "Draw the key moments as pictures and print the counters."
    add_scenarios(parser, "*")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="the folder for the pictures")
    add_look(parser)


def execute(chosen: Namespace) -> int:
    """Draw the pictures, numbered in their order, and print their names and the counters."""
    specs = chosen.scenario or DEFAULT_PAIR
    check_scenarios(specs)
    folder = _folder(chosen.output)
    compared = trace_sessions(specs)
    look = (chosen.theme, chosen.size, chosen.scale, chosen.text_size)
    for number, key in enumerate(key_moments(compared[-1])):
        path = folder / f"{number:02}-{key.name}.png"
        snapshot(specs, str(path), key.moment, None, *look)
        print_escaped(path)
    print_escaped(counters_table(compared))
    return 0


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {name} cannot be created: {error.strerror or error}.") from error
    return folder


def key_moments(session: Session) -> list[KeyMoment]:
    """List the key moments of a session in their order, each moment once."""
    block = int(session.trace.blocks[0]) if len(session.trace.blocks) else 0
    moments = [
        KeyMoment(0, "start"),
        *_phases(session, block),
        KeyMoment(block_span(session, block)[1], "first-block-done"),
        KeyMoment(session.end // 2, "half-way"),
        KeyMoment(session.end, "end"),
    ]
    first = {key.moment: key for key in reversed(moments)}
    return [first[moment] for moment in sorted(first)]


def _phases(session: Session, block: int) -> list[KeyMoment]:
    """Return the middle of each of the first phases of a block with accesses."""
    phases = session.requests.span_start.shape[1] if session.requests.span_start.ndim == 2 else 0
    spans = [(phase, *phase_span(session, block, phase)) for phase in range(min(phases, PHASES))]
    return [
        KeyMoment((start + end + 1) // 2, _file_name(phase_text(session.scenario, phase, phases).label))
        for phase, start, end in spans
        if start < end
    ]


def _file_name(label: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")

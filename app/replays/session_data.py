"""The data of a session in a replay besides its pictures: heading, counters, source, findings, timeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from ...tracer.analysis.requests import REQUEST_KINDS
from ...tracer.model.array_types import Ints
from ...tracer.model.finding import source_location
from ..model.kernel_source import cuda_c_of, function_lines, kernel_file, source_text
from ..model.session import Session
from ..model.visible_text import escape_controls, escape_controls_in_lines
from ..views.common.activity import block_activity
from ..views.common.order_spans import order_spans
from ..views.common.outside import outside_of
from ..views.common.wording import (
    ESTIMATED,
    EXACT,
    MARKS,
    PART,
    block_text,
    engine_text,
    estimate_text,
    notice_text,
    phase_text,
    pitfall_text,
    verdict_text,
)
from ..views.counters.numbers import notice_of, tiles_of, totals_of
from ..views.source.highlight import Token, cuda_c_tokens, python_tokens
from ..views.timeline.image import activity_codes, assign_lanes
from ..views.timeline.view import default_block_range
from ..widgets.patterns import EXCHANGE, LOOKS, WAITING
from .step_functions import Changes, gaps

Say = Callable[[str], str]
CODE = ord("0")  # the character of code 0 in the rows of a timeline
NONE: Ints = np.empty(0, np.int64)
MOST_LINES = 400  # of a file without the kernel
MOST_BARS = 4096  # blocks in the strip of all blocks


def session_data(
    session: Session, say: Say, moments: Iterable[int], blocks: Collection[int], wavefronts: bool
) -> dict[str, Any]:
    """Serialise a session for JSON.

    moments: the shown moments, for the counters. blocks: the selected blocks. wavefronts: whether shared memory
    wavefronts are counted.
    """
    shown = sorted(moments)
    findings = _findings(session, say)  # first: the verdict depends on them
    verdict, good = verdict_text(session)
    return {
        "title": say(escape_controls(session.title)),
        "end": session.end,
        "verdict": say(verdict),
        "good": good,
        "made": engine_text(session.trace),
        "part": notice_text(session.trace),
        "lesson": say(session.scenario.lesson if session.scenario else ""),
        "pitfall": say(pitfall_text(session.scenario)),
        "notice": say(notice_of(session.trace)),
        "warp": say("Warp"),
        "counted": say("requests by all warps so far"),
        "counters": _counters(session, say, shown, wavefronts),
        "source": _source(session, shown),
        "findings": findings,
        "timeline": _timeline(session, say, blocks),
    }


def _counters(session: Session, say: Say, moments: list[int], wavefronts: bool) -> list[dict[str, Any]]:
    """Serialise the counters below a picture at every moment."""
    totals = totals_of(session.trace)
    is_part = notice_of(session.trace) and not totals
    mark = PART if is_part else ESTIMATED if estimate_text(session.trace) else EXACT
    counters = []
    for tile in tiles_of(session, wavefronts):
        changes = Changes()
        for moment in moments:
            changes.note(moment, tile.text(moment))
        counters.append(
            {
                "label": say(tile.label),
                "meaning": say(tile.meaning),
                "mark": mark,
                "of": MARKS[mark],
                "texts": changes.written(),
            }
        )
    return counters


def _source(session: Session, moments: list[int]) -> dict[str, Any]:
    """Serialise the source files, the lines of the sites, and the requests of each line by moment."""
    sites, names = session.trace.sites, files_of(session)
    files = [_file(session, name) for name in names]
    twin = cuda_c_of(session)
    if twin is not None:
        files.append(_lines(twin[1], twin[0], 1, twin[1].count("\n") + 1, cuda_c_tokens(twin[1])))
    by_line = {line: Changes() for line in session.counters.line_counts(session.end)}
    for moment in moments:
        for line, count in session.counters.line_counts(moment).items():
            by_line[line].note(moment, count)
    return {
        "files": files,
        "sites": [[names.index(s.file) if s.file in names else -1, s.line] for s in sites],
        "counts": [
            [names.index(file), line, *changes.written()]
            for (file, line), changes in by_line.items()
            if file in names
        ],
    }


def files_of(session: Session) -> list[str]:
    """List the files with accesses, the kernel's first; pages refer to them by index."""
    names = dict.fromkeys([kernel_file(session), *(site.file for site in session.trace.sites)])
    return [name for name in names if source_text(session, name)]


def _file(session: Session, name: str) -> dict[str, Any]:
    """Serialise the relevant lines of a file: the kernel, or the accesses in another file."""
    text = source_text(session, name)
    first, last = function_lines(text, session.trace.kernel) if name == kernel_file(session) else (1, 0)
    lines = [site.line for site in session.trace.sites if site.file == name]
    if last:
        first, last = min([first, *lines]), max([last, *lines])
    else:
        first, last = max(1, min(lines, default=1) - 20), max(lines, default=0) + MOST_LINES // 2
    return _lines(text, name, first, min(last, first + MOST_LINES), python_tokens(text))


def _lines(text: str, name: str, first: int, last: int, tokens: dict[int, list[Token]]) -> dict[str, Any]:
    """Serialise some lines of a text, each as parts (style, text)."""
    lines = text.replace("\r\n", "\n").split("\n")[first - 1 : last]
    parts = [_parts(line, tokens.get(first - 1 + i, [])) for i, line in enumerate(lines)]
    short = escape_controls(name.replace("\\", "/").rpartition("/")[2])  # the folder is private
    return {"name": short, "first": first, "lines": parts}


def _parts(line: str, tokens: list[Token]) -> list[list[str]]:
    """Split a line into parts with their styles, "" for none."""
    parts, position = [], 0
    for start, length, style in tokens:
        parts += [["", line[position:start]], [style, line[start : start + length]]]
        position = start + length
    return [
        [style, escape_controls_in_lines(text)] for style, text in [*parts, ["", line[position:]]] if text
    ]


def _findings(session: Session, say: Say) -> list[dict[str, Any]]:
    entries = []
    for finding in session.findings:
        file, line = source_location(finding, session.trace) if finding.sites or finding.location else ("", 0)
        entries.append(
            {
                "kind": finding.kind,
                "severity": finding.severity,
                "message": say(escape_controls(finding.message)),
                "moment": finding.moment,
                "line": line if file else 0,
            }
        )
    return entries


def _timeline(session: Session, say: Say, blocks: Collection[int]) -> dict[str, Any]:
    """Serialise a timeline: all blocks as bars, and each warp's moments of the selected blocks."""
    requests, trace = session.requests, session.trace
    start, end = requests.block_spans if len(trace.blocks) else (NONE, NONE)
    few = slice(0, MOST_BARS)
    kinds = [REQUEST_KINDS[kind] for kind in sorted(set(requests.kind.tolist()))]
    kinds += [EXCHANGE] * bool(len(requests.exchanges)) + [WAITING] * bool(len(trace.barriers.step))
    lane = assign_lanes(start, end)
    return {
        "warps": trace.warps,
        "starts": gaps(start[few].tolist()),
        "ends": gaps(end[few].tolist()),
        "lanes": lane[few].tolist(),
        "numbers": gaps(trace.blocks[few].tolist()),
        "blocks": {str(block): _block(session, say, block) for block in sorted(blocks)},
        "kinds": [[LOOKS.index(kind), say(kind)] for kind in kinds],
        "outside": "outside its array" if len(outside_of(session)) else "",
    }


def _block(session: Session, say: Say, number: int) -> dict[str, Any]:
    block = block_activity(session, number)
    phases = range(block.phases if block.present else 0)
    return {
        "name": say(block_text(session.trace, number)),
        "order": order_spans(session, number),
        "range": [round(edge, 3) for edge in default_block_range(block, session.end)],
        "first": block.span[0],
        "rows": [
            "".join(chr(CODE + code) for code in row) for row in activity_codes(session, block).tolist()
        ],
        "phases": [
            [
                int(block.start[phase]),
                int(block.end[phase]),
                int(block.arrived[:, phase].any()),
                say(phase_text(session.scenario, phase, block.phases).label),
            ]
            for phase in phases
            if block.end[phase] > block.start[phase]
        ],
        "outside": [list(pair) for pair in outside_of(session).warp_moments(number)],
    }

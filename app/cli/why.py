"""`tilescope why`: explain an element's value, back to the inputs or to the fault, or what it reaches."""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import msgspec

from ...tracer.causes.named_element import NoElementError, split_element
from ...tracer.causes.sentences import Sentence
from ...tracer.causes.value_path import Element
from ...tracer.model.finding import count_noun, value_text
from ...tracer.storage.trace_file import load
from ..model.explanation import Explanation
from ..model.session import Session, session_of_file
from ..model.value_causes import (
    causes_of,
    element_named,
    explain,
    explain_reach,
    first_wrong_element,
)
from .common.arguments import Parser, UsageError, check_scenarios, non_negative_integer, positive_integer
from .common.program_traces import PROGRAMS, traces_of_program
from .common.text_output import print_escaped
from .counters import trace_sessions

MARKS = {"foreign": "! ", "stale": "! ", "unwritten": "! ", "unordered": "? ", "leftover": "? ", "": ""}


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Explain the value of an element: the write that left it, the reads that fed it, the writes that fed those, "
        "and the first fault on the way. Without an element, the first one that NumPy finds wrong is explained."
    )
    parser.add_argument(
        "scenario",
        metavar="FILE.npz | FILE.py | FILE.cu | SCENARIO",
        help="a trace, a program, or a scenario such as matmul-tiled:m=64 (tilescope list names them)",
    )
    parser.add_argument("element", nargs="?", help='an element such as "C[3, 5]"')
    parser.add_argument(
        "--at",
        type=non_negative_integer,
        metavar="MOMENT",
        help="explain its value at a moment; default: the end",
    )
    parser.add_argument(
        "--block", type=non_negative_integer, metavar="N", help="whose shared or local array is meant"
    )
    parser.add_argument("--thread", type=non_negative_integer, metavar="N", help="whose local array is meant")
    parser.add_argument(
        "--against",
        metavar="FILE.npz",
        help="a trace or scenario to compare with: where the path first differs",
    )
    parser.add_argument(
        "--launch",
        type=positive_integer,
        metavar="N",
        help="the N-th launch of a program; default: the last one with the array",
    )
    parser.add_argument("--forward", action="store_true", help="show instead what the value reaches")
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(chosen: Namespace) -> int:
    """Print the sentences of a path, or its accesses as JSON."""
    if chosen.forward and chosen.against:
        raise UsageError("--forward and --against can't be used together; leave one out.")
    try:
        if chosen.scenario.endswith(PROGRAMS):
            with tempfile.TemporaryDirectory(prefix="tilescope-") as folder:
                return _explain(chosen, session_of_file(_launch_of_program(chosen, Path(folder))))
        if chosen.launch:
            raise UsageError("--launch chooses a launch of a program, FILE.py or FILE.cu; leave it out.")
        check_scenarios([chosen.scenario])
        return _explain(chosen, trace_sessions([chosen.scenario])[0])
    except NoElementError as error:
        raise UsageError(str(error)) from None


def _launch_of_program(chosen: Namespace, folder: Path) -> Path:
    """Run a program; return the trace of the chosen launch, or of the last one with the element's array."""
    if chosen.element is None:
        raise UsageError(
            'a program\'s launches are compared with nothing; name an element, such as "C[0, 0]".'
        )
    name, _ = split_element(chosen.element)
    paths = traces_of_program(chosen.scenario, folder)
    if chosen.launch:
        if chosen.launch > len(paths):
            launches = count_noun(len(paths), "launch")
            raise UsageError(f"{chosen.scenario} has {launches}, so it has no launch {chosen.launch}.")
        number: int = chosen.launch
        return paths[number - 1]
    with_array = [path for path in paths if name in {buffer.name for buffer in load(path).buffers}]
    return (with_array or paths)[-1]


def _explain(chosen: Namespace, session: Session) -> int:
    """Print the explanation of an element of a launch."""
    others: list[Session] = []
    if chosen.against:
        check_scenarios([chosen.against])
        others = trace_sessions([chosen.against])
    element = _element(session, chosen)
    if element is None:
        print_escaped(f"{session.title}: the result equals NumPy's; name an element to explain it.")
        return 0
    if chosen.forward:
        explanation = explain_reach(session, element, chosen.at)
    else:
        explanation = explain(
            session, element, chosen.at, others[0] if others else None, chosen.against or ""
        )
    if chosen.json:
        print(json.dumps(msgspec.to_builtins(_document(session, explanation)), indent=2))
        return 0
    print_escaped("\n".join(map(_line, explanation.sentences)))
    return 0


def _element(session: Session, chosen: Namespace) -> Element | None:
    """Return the element to explain; raises NoElementError and UsageError."""
    if not len(session.trace):
        raise UsageError("the trace keeps no accesses; trace fewer blocks or a smaller size.")
    if chosen.element is not None:
        return element_named(session, chosen.element, chosen.block, chosen.thread)
    if session.trace.check is None:
        raise UsageError('the launch was compared with nothing; name an element, such as "C[0, 0]".')
    return first_wrong_element(session)


def _line(sentence: Sentence) -> str:
    return f"{'  ' * min(sentence.depth, 6)}{MARKS[sentence.fault]}{sentence.text}"


def _document(session: Session, explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain data."""
    document: dict[str, Any] = {
        "element": explanation.title,
        "sentences": [
            {"text": s.text, "moment": s.moment if s.moment >= 0 else None, "fault": s.fault or None}
            for s in explanation.sentences
        ],
    }
    if path := explanation.path:
        document |= {
            "exact": path.is_exact,
            "complete": path.is_complete,
            "writes": [
                _access(session, row) | {"reads": list(feeds.reads), "inexact": feeds.reason or None}
                for row, feeds in path.writes.items()
            ],
            "reads": [
                _access(session, row)
                | {
                    "source": reading.source,
                    "writer": reading.writer if reading.writer >= 0 else None,
                    "conflict": reading.conflict if reading.conflict >= 0 else None,
                    "fault": reading.fault or None,
                }
                for row, reading in sorted(path.readings.items())
            ],
        }
    if reach := explanation.reach:
        document |= {
            "exact": reach.is_exact,
            "complete": reach.is_complete,
            "reads": [_access(session, row) | {"writes": list(fed)} for row, fed in reach.reads.items()],
            "writes": [_access(session, row) | {"reads": list(uses)} for row, uses in reach.writes.items()],
        }
    return document


def _access(session: Session, row: int) -> dict[str, Any]:
    """Return one access as plain data."""
    trace, requests = session.trace, session.requests
    site = trace.sites[int(trace.site[row])]
    element = causes_of(session).element_of(row)
    return {
        "access": row,
        "array": trace.buffers[element.buffer].name,
        "index": element.index,
        "block": int(trace.block[row]),
        "thread": int(trace.thread[row]),
        "line": site.line,
        "moment": int(requests.moment[requests.request[row]]),
        "value": value_text(trace, row) or None,
    }

"""The accesses on the path of a value, as marks in pictures of memory and in timelines. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....tracer.model.array_types import Ints
from ....tracer.model.trace import WARP
from ...model.explanation import Explanation
from ...model.session import Selection, Session

MOST_LINES = 400  # between cells


class PathCells(NamedTuple):
    """The cells of a path in one buffer, as ascending numbers in its shape."""

    elements: Ints  # of all accesses
    faults: Ints  # of reads with a fault


class PathLine(NamedTuple):
    """A value that goes from an element to another one; each is a buffer and a number in its shape."""

    start: tuple[int, int]
    end: tuple[int, int]


class TimelineMark(NamedTuple):
    """An access of a path in a timeline."""

    warp: int  # number in the block
    moment: int
    has_fault: bool


def path_cells(session: Session, explanation: Explanation, selection: Selection) -> dict[int, PathCells]:
    """Find the cells of a path by buffer; of shared and local arrays, those of the selected block and thread."""
    rows = _visible(session, explanation.rows, selection)
    faults = np.array([row for row in rows.tolist() if row in _faults(explanation)], np.int64)
    return {
        number: PathCells(elements, _elements(session, number, faults))
        for number in np.unique(session.trace.buffer[rows]).tolist()
        if len(elements := _elements(session, number, rows))
    }


def path_lines(session: Session, explanation: Explanation, selection: Selection) -> list[PathLine]:
    """List the values that go from one visible element to another, at most MOST_LINES; each pair once."""
    edges = explanation.edges()
    if not edges:
        return []
    reads, writes = (np.array(side, np.int64) for side in zip(*edges, strict=True))
    visible = _is_visible(session, reads, selection) & _is_visible(session, writes, selection)
    starts, ends = (_places(session, side[visible]) for side in (reads, writes))
    pairs = dict.fromkeys(zip(starts, ends, strict=True))
    return [PathLine(*pair) for pair in pairs if pair[0] != pair[1]][:MOST_LINES]


def timeline_marks(session: Session, explanation: Explanation, block: int) -> list[TimelineMark]:
    """List the accesses of a path by a block's warps, one for each warp and moment."""
    trace, requests = session.trace, session.requests
    rows = explanation.rows[trace.block[explanation.rows] == block]
    moments = requests.moment[requests.request[rows]].tolist()
    warps = (trace.thread[rows] // WARP).tolist()
    faults, marks = _faults(explanation), dict[tuple[int, int], bool]()
    for row, warp, moment in zip(rows.tolist(), warps, moments, strict=True):
        marks[warp, moment] = marks.get((warp, moment), False) or row in faults
    return [TimelineMark(warp, moment, fault) for (warp, moment), fault in sorted(marks.items())]


def _faults(explanation: Explanation) -> set[int]:
    return {reading.row for reading in explanation.path.faults()} if explanation.path else set()


def _visible(session: Session, rows: Ints, selection: Selection) -> Ints:
    chosen: Ints = rows[_is_visible(session, rows, selection)]
    return chosen


def _is_visible(
    session: Session, rows: Ints, selection: Selection
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    trace = session.trace
    spaces = np.array([b.space for b in trace.buffers], "U8")[trace.buffer[rows]]
    own_block, own_thread = trace.block[rows] == selection.block, trace.thread[rows] == selection.thread
    is_shared_by_all = (spaces == "global") | (spaces == "constant")
    is_visible: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
        is_shared_by_all | ((spaces == "shared") & own_block) | ((spaces == "local") & own_block & own_thread)
    )
    return is_visible


def _elements(session: Session, number: int, rows: Ints) -> Ints:
    trace = session.trace
    own = rows[trace.buffer[rows] == number]
    elements = np.unique(session.memory.element_numbers(number, trace.index[own].astype(np.int64)))
    return elements[elements >= 0]


def _places(session: Session, rows: Ints) -> list[tuple[int, int]]:
    """Return the buffer of each access, and the number of its element."""
    trace = session.trace
    numbers = np.full(len(rows), -1)
    for number in np.unique(trace.buffer[rows]).tolist():
        own = trace.buffer[rows] == number
        numbers[own] = session.memory.element_numbers(number, trace.index[rows[own]].astype(np.int64))
    return list(zip(trace.buffer[rows].tolist(), numbers.tolist(), strict=True))

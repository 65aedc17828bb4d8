"""Texts of the warp view: the cost of a request, the accesses of lanes, and their conflicts. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from ....tracer.analysis.request_cost import BANKS, SECTOR, WORD
from ....tracer.model.trace import WARP
from ..common.wording import (
    access_text,
    block_text,
    buffer_text,
    coordinates_text,
    count_text,
    element_text,
    join_with_and,
    plural,
)
from .lanes import Lanes

Figure = tuple[str, str]  # a number and its noun: ("16", "sectors, 2 would do")
UNCOUNTED = {
    "local": "local memory: every thread has its own copy, no cost is counted",
    "constant": "constant memory: one broadcast for each distinct element",
}


def title(lanes: Lanes) -> str:
    """Return the kind and the line of a request: Load of A, line 19."""
    if lanes.request < 0:
        return "No request yet"
    site = lanes.session.trace.sites[int(lanes.session.requests.site[lanes.request])]
    verb = "Update" if lanes.is_atomic else lanes.kind.split()[-1].capitalize()
    return f"{verb} of {buffer_text(lanes.buffer)}, line {site.line}"


def warp_text(lanes: Lanes) -> str:
    """Return the warp and the moment of a request."""
    warp_name = f"warp {lanes.warp} of {block_text(lanes.session.trace, lanes.block)}"
    if lanes.request < 0:
        return warp_name
    return f"{warp_name}, moment {count_text(int(lanes.session.requests.moment[lanes.request]))}"


def figures(lanes: Lanes) -> list[Figure]:
    """List the most important numbers of a request."""
    if lanes.request < 0:
        return []
    active = [_counted(len(lanes.active), "lane")]
    if lanes.outside:
        number = len(lanes.outside)
        active.append((count_text(number), "lane out of bounds" if number == 1 else "lanes out of bounds"))
    if lanes.buffer.space == "shared":
        return [*active, _wavefronts(lanes), *_turns(lanes)]
    if lanes.buffer.space != "global":
        return [*active, _counted(lanes.elements, "element"), ("", UNCOUNTED[lanes.buffer.space])]
    if lanes.is_atomic:
        return [*active, *_turns(lanes), _counted(lanes.cost, "sector")]
    return [*active, _sectors(lanes), (f"{100 * lanes.used_share:.3g}\u00a0%", "of the bytes used")]


def _counted(number: int, noun: str) -> Figure:
    return count_text(number), noun if number == 1 else f"{noun}s"


def _sectors(lanes: Lanes) -> Figure:
    number, noun = _counted(lanes.cost, "sector")
    less = ", the least" if lanes.minimum == lanes.cost else f", {lanes.minimum} would do"
    return number, noun + less


def _wavefronts(lanes: Lanes) -> Figure:
    number, noun = _counted(lanes.cost, "wavefront")
    if lanes.minimum < lanes.cost:
        return number, f"{noun} instead of {lanes.minimum}"
    shared = max((len(piece.lanes) for piece in lanes.touched), default=1) > 1
    return number, noun + (": a word is broadcast, no conflict" if shared else ", no conflict")


def _turns(lanes: Lanes) -> list[Figure]:
    """Return the contention of an atomic: lanes on one element take turns."""
    if not lanes.is_atomic:
        return []
    number, noun = _counted(lanes.elements, "element")
    if lanes.contention == 1:
        return [(number, f"{noun}, no lane waits for another")]
    return [(number, noun), (str(lanes.contention), "lanes take turns at one")]


def sentence(numbers: Sequence[Figure]) -> str:
    """Return the numbers as plain text."""
    return " · ".join(f"{number} {noun}".strip() for number, noun in numbers)


def index_text(lanes: Lanes, lane: int) -> str:
    """Return the element of a lane without the buffer's name: [35, 21]."""
    index = int(lanes.session.trace.index[lanes.row[lane]])
    text, name = element_text(lanes.buffer, index), buffer_text(lanes.buffer)
    return text.removeprefix(name).lstrip(", ") or name


def address_text(address: int) -> str:
    """Return an address in hexadecimal: 0x2400."""
    return f"0x{address:04x}"


def lane_text(lanes: Lanes, lane: int) -> str:
    """Describe a lane in up to two sentences."""
    trace = lanes.session.trace
    if not lanes.present[lane]:
        return f"Lane {lane} has no thread: a block has {plural(trace.threads, 'thread')}."
    lane_name = f"Lane {lane}, thread {coordinates_text(lanes.warp * WARP + lane, trace.block_dim)}"
    if lane in lanes.outside:
        return f"{lane_name}, accesses {lanes.outside[lane]}, which is out of bounds."
    if lanes.row[lane] < 0:
        return f"{lane_name}, is idle: it accesses no memory here."
    address = "" if lanes.buffer.space == "local" else f", at {address_text(int(lanes.address[lane]))}"
    text = f"{lane_name}, {access_text(lanes.session, int(lanes.row[lane]))}{address}."
    return f"{text} {_conflicts_text(lanes, lane)}".strip()


def _conflicts_text(lanes: Lanes, lane: int) -> str:
    """Describe the other lanes in a lane's sectors or banks."""
    own_targets = sorted({piece.target for piece in lanes.touched if lane in piece.lanes})
    if not own_targets:
        return ""
    if lanes.buffer.space == "shared":
        return _in_bank(lanes, lane, own_targets)
    others = _runs_text(lanes.neighbours(lane), lane)
    name = join_with_and([address_text(sector * SECTOR) for sector in own_targets])
    label = f"Its sector {name}" if len(own_targets) == 1 else f"Its sectors {name}"
    used = sum(piece.end - piece.first for piece in lanes.touched if piece.target in own_targets)
    part = f"{used} of {SECTOR * len(own_targets)} bytes used"
    return f"{label}: {part}, {f'also by {others}' if others else 'only by this lane'}."


def _in_bank(lanes: Lanes, lane: int, own_banks: list[int]) -> str:
    banks = f"{'Bank' if len(own_banks) == 1 else 'Banks'} {join_with_and([str(bank) for bank in own_banks])}"
    own = [piece for piece in lanes.touched if lane in piece.lanes]
    same = {other for piece in own for other in piece.lanes}
    at_once = (piece for piece in lanes.touched if piece.target in own_banks and piece.part == own[0].part)
    rivals = sorted({other for piece in at_once for other in piece.lanes} - same)
    texts = [f"same word as {_runs_text(sorted(same), lane)}"] if len(same) > 1 else []
    texts += [f"collides with {_runs_text(rivals, lane)}"] if rivals else ["no conflict"]
    return f"{banks}: {', '.join(texts)}."


def _runs_text(lanes: Sequence[int], lane: int) -> str:
    """Return lanes as runs, without one of them: lanes 0 to 3 and 7."""
    runs: list[list[int]] = []
    for other in lanes:
        if other == lane:
            continue
        if runs and other == runs[-1][-1] + 1:
            runs[-1].append(other)
        else:
            runs.append([other])
    texts = [str(r[0]) if len(r) == 1 else f"{r[0]} to {r[-1]}" for r in runs]
    noun = "lane" if len(runs) == 1 and len(runs[0]) == 1 else "lanes"
    return f"{noun} {join_with_and(texts)}" if texts else ""


def target_text(lanes: Lanes, target: int) -> str:
    """Describe the accesses to a sector or a bank."""
    pieces = [piece for piece in lanes.touched if piece.target == target]
    users = _runs_text(sorted({lane for piece in pieces for lane in piece.lanes}), -1)
    if lanes.buffer.space == "shared":
        if not pieces:
            return f"Bank {target} of {BANKS}: not accessed."
        distinct = len({piece.first for piece in pieces})
        words = plural(distinct, "word") + f" of {WORD} bytes"
        conjunction = "so" if distinct == len(pieces) else "in"
        more = f", {conjunction} {len(pieces)} wavefronts" if len(pieces) > 1 else ""
        return f"Bank {target} of {BANKS}: {words}{more}, accessed by {users}."
    used = sum(piece.end - piece.first for piece in pieces)
    return f"Sector {address_text(target * SECTOR)}: {used} of {SECTOR} bytes used, by {users}."

"""What the warp view says in words: what a request costs, what each lane touches, who meets whom there. No Qt."""

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
    listed,
    plural,
)
from .lanes import Lanes

Figure = tuple[str, str]  # a number and what it counts: ("16", "sectors, 2 would do")
UNCOUNTED = {
    "local": "local memory: every thread has its own copy, no cost is counted",
    "constant": "constant memory: one broadcast for each distinct element",
}


def title(lanes: Lanes) -> str:
    """Return what the request does and where: Load of A, line 19."""
    if lanes.request < 0:
        return "No request yet"
    site = lanes.session.trace.sites[int(lanes.session.requests.site[lanes.request])]
    verb = "Update" if lanes.is_atomic else lanes.kind.split()[-1].capitalize()
    return f"{verb} of {buffer_text(lanes.buffer)}, line {site.line}"


def whose(lanes: Lanes) -> str:
    """Return whose request it is and of which moment."""
    who = f"warp {lanes.warp} of {block_text(lanes.session.trace, lanes.block)}"
    if lanes.request < 0:
        return who
    return f"{who}, moment {count_text(int(lanes.session.requests.moment[lanes.request]))}"


def figures(lanes: Lanes) -> list[Figure]:
    """Return the numbers of a request, the most telling ones alone."""
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
    return [*active, _sectors(lanes), (f"{100 * lanes.used:.3g}\u00a0%", "of the bytes used")]


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
    """Return how the lanes of an atomic meet: those on one element take turns."""
    if not lanes.is_atomic:
        return []
    number, noun = _counted(lanes.elements, "element")
    if lanes.contention == 1:
        return [(number, f"{noun}, no lane waits for another")]
    return [(number, noun), (str(lanes.contention), "lanes take turns at one")]


def sentence(found: Sequence[Figure]) -> str:
    """Return the numbers as plain text."""
    return " · ".join(f"{number} {words}".strip() for number, words in found)


def index_text(lanes: Lanes, lane: int) -> str:
    """Return which element a lane touches, without the buffer's name: [35, 21]."""
    index = int(lanes.session.trace.index[lanes.row[lane]])
    text, name = element_text(lanes.buffer, index), buffer_text(lanes.buffer)
    return text.removeprefix(name).lstrip(", ") or name


def address_text(address: int) -> str:
    """Return an address as programmers write it: 0x2400."""
    return f"0x{address:04x}"


def lane_text(lanes: Lanes, lane: int) -> str:
    """Return all there is to say of a lane, in two sentences."""
    trace = lanes.session.trace
    if not lanes.present[lane]:
        return f"Lane {lane} has no thread: a block has {plural(trace.threads, 'thread')}."
    who = f"Lane {lane}, thread {coordinates_text(lanes.warp * WARP + lane, trace.block_dim)}"
    if lane in lanes.outside:
        return f"{who}, accesses {lanes.outside[lane]}, which is out of bounds."
    if lanes.row[lane] < 0:
        return f"{who}, is idle: it makes no access here."
    place = "" if lanes.buffer.space == "local" else f", at {address_text(int(lanes.address[lane]))}"
    text = f"{who}, {access_text(lanes.session, int(lanes.row[lane]))}{place}."
    return f"{text} {_meeting(lanes, lane)}".strip()


def _meeting(lanes: Lanes, lane: int) -> str:
    """Return whom a lane meets: in its sectors, or in its banks."""
    mine = sorted({piece.target for piece in lanes.touched if lane in piece.lanes})
    if not mine:
        return ""
    if lanes.buffer.space == "shared":
        return _in_bank(lanes, lane, mine)
    who = _others(lanes.beside(lane), lane)
    name = listed([address_text(sector * SECTOR) for sector in mine])
    where = f"Its sector {name}" if len(mine) == 1 else f"Its sectors {name}"
    used = sum(piece.end - piece.first for piece in lanes.touched if piece.target in mine)
    part = f"{used} of {SECTOR * len(mine)} bytes used"
    return f"{where}: {part}, {f'also by {who}' if who else 'by this lane alone'}."


def _in_bank(lanes: Lanes, lane: int, mine: list[int]) -> str:
    banks = f"{'Bank' if len(mine) == 1 else 'Banks'} {listed([str(bank) for bank in mine])}"
    own = [piece for piece in lanes.touched if lane in piece.lanes]
    same = {other for piece in own for other in piece.lanes}
    at_once = (piece for piece in lanes.touched if piece.target in mine and piece.part == own[0].part)
    rivals = sorted({other for piece in at_once for other in piece.lanes} - same)
    texts = [f"same word as {_others(sorted(same), lane)}"] if len(same) > 1 else []
    texts += [f"collides with {_others(rivals, lane)}"] if rivals else ["no conflict"]
    return f"{banks}: {', '.join(texts)}."


def _others(lanes: Sequence[int], lane: int) -> str:
    """Return lanes but one as runs: lanes 0 to 3 and 7."""
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
    return f"{noun} {listed(texts)}" if texts else ""


def target_text(lanes: Lanes, target: int) -> str:
    """Return what is touched of a sector or bank."""
    pieces = [piece for piece in lanes.touched if piece.target == target]
    who = _others(sorted({lane for piece in pieces for lane in piece.lanes}), -1)
    if lanes.buffer.space == "shared":
        if not pieces:
            return f"Bank {target} of {BANKS}: not touched."
        distinct = len({piece.first for piece in pieces})
        words = plural(distinct, "word") + f" of {WORD} bytes"
        why = "so" if distinct == len(pieces) else "in"
        more = f", {why} {len(pieces)} wavefronts" if len(pieces) > 1 else ""
        return f"Bank {target} of {BANKS}: {words}{more}, touched by {who}."
    used = sum(piece.end - piece.first for piece in pieces)
    return f"Sector {address_text(target * SECTOR)}: {used} of {SECTOR} bytes used, by {who}."

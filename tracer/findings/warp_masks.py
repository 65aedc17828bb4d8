"""Warp operations to which not just those lanes come that their mask names.

The CUDA C++ Programming Guide demands ("Warp Shuffle Functions", "Warp Vote Functions") that each lane that calls
is named in its mask, and that all that the mask names, but those that have ended, execute the same operation with
the same mask. What a shuffle takes from a lane that has ended is undefined (an H200 gives 0); where nothing is
taken, the lane is just not there. Lanes at two calls of one operation meet since Volta, as the PTX ISA has it for
shfl.sync and vote.sync ("the same qualifiers and same membermask"), and as an H200 does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..analysis.kernel_structure import called_name
from ..analysis.requests import Requests
from ..model.finding import Finding, coordinates_text, counted, line_text
from ..model.trace import WARP, MissingLanes, Trace


class FaultText(NamedTuple):
    """What a finding says of lanes that a mask names and of those that come."""

    severity: str  # in SEVERITIES
    what: str  # what the lanes do, after their number
    remedy: str


def warp_mask_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return a finding for each site and kind of fault; of lanes that ended, the worse where both are there."""
    read = {lost.site for lost in trace.missing if lost.why == "read"}
    reported = [lost for lost in trace.missing if not (lost.why == "ended" and lost.site in read)]
    return [_finding(trace, requests, lost) for lost in sorted(reported, key=lambda lost: lost.site)]


def _waiting(trace: Trace, lost: MissingLanes) -> FaultText:
    what = f"that {_mask(trace, lost)} names never {_verb(lost, 'come')}{_first(trace, lost)}"
    remedy = "let every lane that the mask names come here, or leave it out of the mask"
    return FaultText("error", f"{what}, so a GPU hangs or goes on with anything", remedy)


def _read(trace: Trace, lost: MissingLanes) -> FaultText:
    if _there(trace, lost):
        gone = f"{'has' if _count(lost) == 1 else 'have'} returned before{_first(trace, lost)}"
        remedy = "keep every thread until the last shuffle, with a value that does not count, such as 0"
    else:
        gone = f"{'is' if _count(lost) == 1 else 'are'} not there, since {_size(trace, lost)}"
        remedy = "take a multiple of 32 threads for a block, those beyond with a value that does not count, such as 0"
    what = f"from which {_call(trace, lost.site)} on {line_text(trace, lost.site)} takes values {gone}"
    return FaultText("error", f"{what}, so what it gets is undefined", remedy)


def _ended(trace: Trace, lost: MissingLanes) -> FaultText:
    what = f"that {_mask(trace, lost)} names had returned before{_first(trace, lost)}"
    what += f", which a GPU lets pass, but nothing of {'it' if _count(lost) == 1 else 'them'} comes"
    return FaultText(
        "warning", what, "keep every thread until the last warp operation, or leave it out of the mask"
    )


def _unnamed(trace: Trace, lost: MissingLanes) -> FaultText:
    what = f"{_verb(lost, 'come')} to {_call(trace, lost.site)} on {line_text(trace, lost.site)} though the mask "
    what += f"{lost.mask:#010x} leaves {'it' if _count(lost) == 1 else 'them'} out{_first(trace, lost)}"
    return FaultText(
        "error", f"{what}, of which no GPU promises anything", "name every lane that comes here in the mask"
    )


def _apart(trace: Trace, lost: MissingLanes) -> FaultText:
    one, other = (_call(trace, site) for site in (lost.site, lost.other))
    what = f"{_verb(lost, 'come')} to {other} on {line_text(trace, lost.other)} while others that the mask "
    what += f"{lost.mask:#010x} names are at {one} on {line_text(trace, lost.site)}{_first(trace, lost)}"
    remedy = "let all lanes of the mask come to one and the same call"
    if one == other:
        return FaultText("warning", f"{what}, which GPUs before Volta don't sort out", remedy)
    return FaultText("error", f"{what}, which no GPU promises to sort out", remedy)


FAULT_TEXTS: dict[str, Callable[[Trace, MissingLanes], FaultText]] = {
    "waiting": _waiting, "read": _read, "ended": _ended, "unnamed": _unnamed, "apart": _apart,
}  # fmt: skip


def _finding(trace: Trace, requests: Requests, lost: MissingLanes) -> Finding:
    text, count = FAULT_TEXTS[lost.why](trace, lost), _count(lost)
    message = f"{counted(count, 'lane')} {text.what}; {text.remedy}."
    before = np.flatnonzero((trace.block == lost.block) & (trace.step < lost.step))
    moment = int(requests.moment[requests.request[before[-1]]]) if len(before) else 0
    sites = (lost.other, lost.site) if lost.other >= 0 else (lost.site,)
    thread = min(_thread(lost), trace.threads - 1)
    return Finding(
        "barrier", text.severity, message, text.remedy, count, sites, np.empty(0, np.int64), (),
        ((lost.block, thread),), moment,
    )  # fmt: skip


def _count(lost: MissingLanes) -> int:
    return lost.missing.bit_count()


def _verb(lost: MissingLanes, verb: str) -> str:
    return verb + ("s" if _count(lost) == 1 else "")


def _thread(lost: MissingLanes) -> int:
    """Return the number of the first thread that is named; a lane of no thread has one too."""
    return lost.warp * WARP + next(lane for lane in range(WARP) if lost.missing >> lane & 1)


def _there(trace: Trace, lost: MissingLanes) -> bool:
    return _thread(lost) < trace.threads


def _size(trace: Trace, lost: MissingLanes) -> str:
    count = trace.threads - lost.warp * WARP
    return f"warp {lost.warp} of a block of {counted(trace.threads, 'thread')} has {counted(count, 'lane')}"


def _mask(trace: Trace, lost: MissingLanes) -> str:
    return f"the mask {lost.mask:#010x} on {line_text(trace, lost.site)}"


def _first(trace: Trace, lost: MissingLanes) -> str:
    thread = coordinates_text(_thread(lost), trace.block_dim)
    return f", first thread {thread} of block {coordinates_text(lost.block, trace.grid)}"


def _call(trace: Trace, site: int) -> str:
    name = called_name(trace, trace.sites[site])
    if name == "syncwarp" or name.endswith("_sync"):
        return f"cuda.{name}"
    return name or "the warp operation"  # a library's function, which calls it

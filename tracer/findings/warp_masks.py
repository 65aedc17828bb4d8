"""Warp operations whose mask does not match the lanes that reach them.

The CUDA C++ Programming Guide demands ("Warp Shuffle Functions", "Warp Vote Functions") that the mask names each
lane that calls. All lanes that the mask names, except ended ones, must execute the same operation with the same
mask. A shuffle from an ended lane gives an undefined value (an H200 gives 0); other operations ignore such a lane.
Lanes at two calls of one operation meet since Volta, as the PTX ISA specifies for shfl.sync and vote.sync ("the
same qualifiers and same membermask"), and as an H200 does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..analysis.kernel_structure import called_name
from ..analysis.requests import Requests
from ..model.finding import Finding, coordinates_text, count_noun, line_text
from ..model.rules import WARP_MASK
from ..model.trace import WARP, MissingLanes, Trace

DROP_MASK = "use cuda.syncwarp() without a mask"


class FaultText(NamedTuple):
    """The words of a finding about a mask that does not match the lanes."""

    severity: str  # in SEVERITIES
    deed: str  # what the lanes do, follows their number
    remedy: str


def warp_mask_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """List a finding for each site and kind of fault; of lanes that ended, only the worse one."""
    read_sites = {lost.site for lost in trace.missing if lost.why == "read"}
    reported = [lost for lost in trace.missing if not (lost.why == "ended" and lost.site in read_sites)]
    return [_finding(trace, requests, lost) for lost in sorted(reported, key=lambda lost: lost.site)]


def _waiting(trace: Trace, lost: MissingLanes) -> FaultText:
    deed = f"that {_mask_text(trace, lost)} names never {_verb(lost, 'come')}{_first_text(trace, lost)}"
    remedy = "let every lane that the mask names come here, or leave it out of the mask"
    return FaultText("error", f"{deed}, so a GPU hangs or continues with arbitrary values", remedy)


def _read(trace: Trace, lost: MissingLanes) -> FaultText:
    if _has_thread(trace, lost):
        state = f"{'has' if _count(lost) == 1 else 'have'} returned before{_first_text(trace, lost)}"
        remedy = "keep every thread until the last shuffle, with a value that does not count, such as 0"
    else:
        state = f"{_verb_be(lost)} not there, since {_size_text(trace, lost)}"
        remedy = "use a multiple of 32 threads per block, the extra ones with a value that does not count, such as 0"
    deed = f"from which {_call_text(trace, lost.site)} on {line_text(trace, lost.site)} takes values {state}"
    return FaultText("error", f"{deed}, so what it gets is undefined", remedy)


def _ended(trace: Trace, lost: MissingLanes) -> FaultText:
    deed = f"that {_mask_text(trace, lost)} names had returned before{_first_text(trace, lost)}"
    deed += f", which a GPU lets pass, but nothing of {'it' if _count(lost) == 1 else 'them'} comes"
    return FaultText(
        "warning", deed, "keep every thread until the last warp operation, or leave it out of the mask"
    )


def _unnamed(trace: Trace, lost: MissingLanes) -> FaultText:
    call = _call_text(trace, lost.site)
    deed = f"{_verb(lost, 'come')} to {call} on {line_text(trace, lost.site)} though the mask "
    deed += f"{lost.mask:#010x} leaves {'it' if _count(lost) == 1 else 'them'} out{_first_text(trace, lost)}"
    remedy = DROP_MASK if call == "cuda.syncwarp" else "name every lane that comes here in the mask"
    return FaultText("error", f"{deed}, which is undefined behaviour on a GPU", remedy)


def _outside(trace: Trace, lost: MissingLanes) -> FaultText:
    call = _call_text(trace, lost.site)
    deed = (
        f"from which {call} on {line_text(trace, lost.site)} takes values {_verb_be(lost)} not in its mask "
    )
    first = f"first lane {_first_thread(lost) % WARP} of warp {lost.warp}"
    deed += f"{lost.mask:#010x}, {first} of block {coordinates_text(lost.block, trace.grid)}"
    deed += ", so what it gets is undefined"
    if ("_up_" in call or "_down_" in call) and _count(lost) < lost.mask.bit_count():
        remedy = "let no result depend on the lanes that get it, or name all lanes of the warp"
        return FaultText("warning", deed, remedy)
    return FaultText("error", deed, "name in the mask every lane whose value is taken, and let it come here")


def _verb_be(lost: MissingLanes) -> str:
    return "is" if _count(lost) == 1 else "are"


def _at_different_calls(trace: Trace, lost: MissingLanes) -> FaultText:
    first_call, other_call = (_call_text(trace, site) for site in (lost.site, lost.other))
    deed = (
        f"{_verb(lost, 'come')} to {other_call} on {line_text(trace, lost.other)} while others that the mask "
    )
    deed += f"{lost.mask:#010x} names are at {first_call} on {line_text(trace, lost.site)}{_first_text(trace, lost)}"
    remedy = "let all lanes of the mask come to one and the same call"
    if first_call == other_call:
        return FaultText("warning", f"{deed}, which GPUs before Volta don't sort out", remedy)
    return FaultText("error", f"{deed}, which no GPU promises to sort out", remedy)


FAULT_TEXTS: dict[str, Callable[[Trace, MissingLanes], FaultText]] = {
    "waiting": _waiting, "read": _read, "ended": _ended, "unnamed": _unnamed, "apart": _at_different_calls,
    "outside": _outside,
}  # fmt: skip


def _finding(trace: Trace, requests: Requests, lost: MissingLanes) -> Finding:
    text, count = FAULT_TEXTS[lost.why](trace, lost), _count(lost)
    message = f"{count_noun(count, 'lane')} {text.deed}; {text.remedy}."
    earlier = np.flatnonzero((trace.block == lost.block) & (trace.step < lost.step))
    moment = int(requests.moment[requests.request[earlier[-1]]]) if len(earlier) else 0
    sites = (lost.other, lost.site) if lost.other >= 0 else (lost.site,)
    thread = min(_first_thread(lost), trace.threads - 1)
    return Finding(
        "barrier", text.severity, message, text.remedy, count, sites, np.empty(0, np.int64), (),
        ((lost.block, thread),), moment, rule=WARP_MASK,
    )  # fmt: skip


def _count(lost: MissingLanes) -> int:
    return lost.missing.bit_count()


def _verb(lost: MissingLanes, verb: str) -> str:
    return verb + ("s" if _count(lost) == 1 else "")


def _first_thread(lost: MissingLanes) -> int:
    """Return the number of the first missing thread; a lane without a thread has a number too."""
    return lost.warp * WARP + next(lane for lane in range(WARP) if lost.missing >> lane & 1)


def _has_thread(trace: Trace, lost: MissingLanes) -> bool:
    return _first_thread(lost) < trace.threads


def _size_text(trace: Trace, lost: MissingLanes) -> str:
    count = trace.threads - lost.warp * WARP
    return f"warp {lost.warp} of a block of {count_noun(trace.threads, 'thread')} has {count_noun(count, 'lane')}"


def _mask_text(trace: Trace, lost: MissingLanes) -> str:
    return f"the mask {lost.mask:#010x} on {line_text(trace, lost.site)}"


def _first_text(trace: Trace, lost: MissingLanes) -> str:
    thread = coordinates_text(_first_thread(lost), trace.block_dim)
    return f", first thread {thread} of block {coordinates_text(lost.block, trace.grid)}"


def _call_text(trace: Trace, site: int) -> str:
    name = called_name(trace, trace.sites[site])
    if name == "syncwarp" or name.endswith("_sync"):
        return f"cuda.{name}"
    return name or "the warp operation"  # the call is in a library's function

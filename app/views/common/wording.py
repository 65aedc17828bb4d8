"""The names of things on screen: numbers, threads, blocks, elements, accesses, phases, verdicts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....kernels.scenarios.catalogue import PhaseText, Scenario
from ....kernels.scenarios.scenario import Values
from ....tracer.analysis.loop_rounds import are_rounds_unknown
from ....tracer.analysis.requests import REQUEST_KINDS, kinds_of
from ....tracer.model.finding import block_text, coordinates_text, element_coordinates
from ....tracer.model.finding import count_noun as plural
from ....tracer.model.trace import Buffer, Check, Op, Trace, poison
from ...model.counter_labels import operands
from ...model.session import Session, buffer_text

EXACT, PART, MEASURED, COMPILED, ESTIMATED = "exact", "part", "measured", "compiled", "estimated"
MARKS = {
    EXACT: "Counted from the trace, which holds every access: nothing is estimated.",
    PART: "Counted from the trace, but the trace is only a part of the launch: this is not a total.",
    MEASURED: "Read from a clock or a counter of a device.",
    COMPILED: "Counted in the code of an optimising compiler, which is named next to it.",
    ESTIMATED: "Counted from a trace that does not record in which round of a loop an access is made.",
    "modelled": "Computed by a formula, which is named next to it.",
}
ESTIMATE = (
    "Requests are estimated: only some rounds of a loop access memory, and the trace does not record which accesses "
    "are made in the same round."
)
__all__ = [
    "block_text",
    "buffer_text",
    "coordinates_text",
    "element_coordinates",
    "operands",
    "plural",
]  # re-exported: the tracer's names in findings, and the session's
# A load reads, a store writes, an atomic does both.
UNWRITTEN = " (unwritten memory)"
VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def count_text(number: int) -> str:
    """Format an integer with thousands separators: 18,432."""
    return f"{number:,}"


def bytes_text(number: int) -> str:
    """Format a number of bytes in the largest binary unit that keeps it at least 1: 64 KiB."""
    power = min((max(number, 1).bit_length() - 1) // 10, len(UNITS) - 1)
    value = number / 1024**power
    return f"{value:.0f} {UNITS[power]}" if value == int(value) else f"{value:.1f} {UNITS[power]}"


def times_text(ratio: float) -> str:
    """Format an average number of times: 2.3×."""
    return f"{ratio:,.1f}×"


def join_with_and(words: list[str]) -> str:
    """Join words with commas and "and": A, B and C."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def element_text(buffer: Buffer, index: int) -> str:
    """Name the element at an access index: tile_b[7, 5]."""
    coordinates = element_coordinates(buffer, index)
    if coordinates is None:
        return f"{buffer_text(buffer)}, byte {index * buffer.unit}: outside"
    return (
        f"{buffer_text(buffer)}[{', '.join(map(str, coordinates))}]" if coordinates else buffer_text(buffer)
    )


def value_text(value: np.generic) -> str:
    """Format a value with four significant digits; integers in full."""
    if isinstance(value, np.bool_ | np.integer):
        return str(value)
    if isinstance(value, np.complexfloating):
        return f"{complex(value):.4g}"
    return f"{float(value):.4g}" if isinstance(value, np.floating) else str(value)


def access_text(session: Session, row: int) -> str:
    """Describe one access: reads tile_b[7, 5] = 0.4386."""
    trace = session.trace
    buffer = trace.buffers[int(trace.buffer[row])]
    text = f"{VERBS[access_kind(session, row).split()[-1]]} {element_text(buffer, int(trace.index[row]))}"
    if trace.value is None:
        return text
    value = trace.value[row]
    return f"{text} = {value_text(value)}{UNWRITTEN if _is_unwritten(value, np.dtype(buffer.dtype)) else ''}"


def _is_unwritten(value: np.generic, dtype: np.dtype[np.generic]) -> bool:
    """Check whether a value has the bits that fill unwritten memory; in less than 4 bytes they are common.

    dtype: of the buffer, which may differ from the value's.
    """
    if {dtype.kind, value.dtype.kind} - set("fciu") or dtype.itemsize < 4:
        return False
    fills = poison(dtype), np.frombuffer(b"\xa5" * dtype.itemsize, dtype)[0]
    with np.errstate(all="ignore"):
        return value.tobytes() in [fill.astype(value.dtype).tobytes() for fill in fills]


def access_kind(session: Session, row: int) -> str:
    """Return the kind (one of REQUEST_KINDS) of an access."""
    return REQUEST_KINDS[int(kinds_of(session.trace, np.array([row]))[0])]


def outside_text(trace: Trace, chosen: NDArray[np.bool_]) -> str:
    """Describe in one sentence the chosen accesses, which were skipped because they lay outside their arrays."""
    outside, rows = trace.outside, np.flatnonzero(chosen)
    if not len(rows):
        return ""
    first = int(rows[0])
    verb = {Op.LOAD: "reads", Op.STORE: "writes"}.get(Op(outside.op[first]), "updates")
    thread, line = (
        coordinates_text(int(outside.thread[first]), trace.block_dim),
        trace.sites[int(outside.site[first])].line,
    )
    first_access = f"thread {thread} {verb} {outside.text[first]} on line {line}"
    if len(rows) == 1:
        return f"1 access outside its array was not made: {first_access}."
    return f"{count_text(len(rows))} accesses outside their arrays were not made, first {first_access}."


def phase_text(scenario: Scenario | None, phase: int, phases: int) -> PhaseText:
    """Return the name and description of phase number `phase` of a block with `phases` phases."""
    if scenario and scenario.last and phase == phases - 1:
        return _fill_step(scenario.last, 0)
    if scenario and scenario.phases:
        step, index = divmod(phase, len(scenario.phases))
        return _fill_step(scenario.phases[index], step)
    return PhaseText(f"phase {phase}" if phases > 1 else "one phase: no barrier", "")


def _fill_step(text: PhaseText, step: int) -> PhaseText:
    return PhaseText(text.label.replace("{step}", str(step)), text.sentence.replace("{step}", str(step)))


def check_text(trace: Trace) -> tuple[str, bool]:
    """Return the result of the comparison with NumPy in words, and whether it is good; ("", True) without one."""
    if trace.error:
        return f"stopped: {trace.error.type}", False
    if trace.check is None:
        return "", True
    return compared_text(trace.check), trace.check.equal


def is_right_by_luck(session: Session | None) -> bool:
    """Check whether the result of a session equals NumPy's although its threads race."""
    if session is None or session.trace.check is None or not session.trace.check.equal:
        return False
    return session.is_examined and any(f.kind == "race" and f.severity == "error" for f in session.findings)


LUCKY = "equals NumPy by luck: other orders may differ"


def verdict_text(session: Session) -> tuple[str, bool]:
    """Return the verdict on a session's result in words, and whether it is good; ("", True) without one."""
    return (LUCKY, False) if is_right_by_luck(session) else check_text(session.trace)


def engine_text(trace: Trace) -> str:
    """Name the engine that computed the values of a trace, in a sentence; "" if no engine did."""
    maker, _, why = trace.made_by.partition("; ")
    if trace.schedule == MEASURED:
        return f"The accesses and their values were measured on a GPU: {maker}."
    if not maker.startswith("numba"):
        return ""
    if maker.endswith(", compiled"):
        return "The values were computed by compiled code, in the types that Numba infers."
    reason = f" ({why})" if why else ""
    return f"The values were computed by the simulator{reason}."


def compared_text(check: Check, *, brief: bool = False) -> str:
    """Compare a result with NumPy's in words: the largest error, and the number of wrong elements if known."""
    error, is_finite = check.largest_error, math.isfinite(check.largest_error)
    if check.is_by_chance:
        return "depends on a load outside its array"
    if check.equal:
        return f"equals NumPy, largest error {error_text(error)}" if error else "equals NumPy exactly"
    if check.elements > 1:
        where = f"in {count_text(check.differing)} of {count_text(check.elements)} elements"
        most = f", by up to {error_size_text(error)}" if is_finite and not brief else ""
        return f"differs from NumPy {where}{most}"
    return f"differs from NumPy: {f'off by {error_size_text(error)}' if is_finite else 'not a number'}"


def error_size_text(error: float) -> str:
    """Format the error of a wrong result: integers and large numbers in full, others with three significant digits."""
    return f"{error:,.0f}" if error == int(error) or error >= 1000 else f"{error:.3g}"


def error_text(error: float) -> str:
    """Format a small error with one significant digit: 4e-7."""
    digits, power = f"{error:.0e}".split("e")
    return f"{digits}e{int(power)}" if not -3 <= int(power) <= 2 else f"{error:.1g}"


def mark_of(trace: Trace) -> str:
    """Return the mark of figures that are counted from the accesses of a trace; MEASURED if a GPU recorded them."""
    if trace.is_part or trace.error:
        return PART
    return MEASURED if trace.schedule == MEASURED else EXACT


def counter_mark_of(trace: Trace, name: str = "", *, of_launch: bool = False) -> str:
    """Return the mark of a counter, or of all: ESTIMATED if it is unknown which accesses are one request.

    of_launch: whether the counter covers the complete launch even if the trace lacks accesses.
    """
    mark = EXACT if of_launch else mark_of(trace)
    is_estimated = mark == EXACT and not name.endswith("_bytes") and are_rounds_unknown(trace)
    return ESTIMATED if is_estimated else mark


def estimate_text(trace: Trace) -> str:
    """Describe in one sentence why the counters of a trace are an estimate; "" if they are not."""
    return ESTIMATE if counter_mark_of(trace, of_launch=bool(trace.totals)) == ESTIMATED else ""


def part_text(trace: Trace) -> str:
    """Describe in one sentence the missing part of a trace; "" for a complete trace."""
    if mark_of(trace) == MEASURED:
        return ""
    if not (trace.is_part or trace.totals) or trace.notice:
        return trace.notice
    blocks = f"{count_text(len(trace.blocks))} of {plural(math.prod(trace.grid), 'block')}"
    if len(trace) < trace.accesses:
        return f"A part of the accesses: {count_text(len(trace))} of {plural(trace.accesses, 'access')} are kept."
    return f"A part of the launch: {blocks} ran."


def notice_text(trace: Trace) -> str:
    """Describe in one sentence the missing part of a trace, or its measurement by a GPU; "" for a complete trace."""
    return trace.notice if mark_of(trace) == MEASURED else part_text(trace)


def pitfall_text(scenario: Scenario | None) -> str:
    """Describe a kernel's mistake, and the cases with right and wrong results; "" for a correct kernel."""
    if scenario is None or not scenario.pitfall:
        return ""
    right, wrong = (
        join_with_or([values_text(scenario, values) for values in cases])
        for cases in (scenario.works, scenario.breaks)
    )
    ends = [
        f"In lockstep the result is right {right}." if right else "",
        f"It is wrong {wrong}." if wrong else "",
    ]
    return " ".join([scenario.pitfall, *(end for end in ends if end)])


def join_with_or(words: list[str]) -> str:
    """Join words with commas and "or": a, b or c."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def values_text(scenario: Scenario, values: Values) -> str:
    """Name parameters as the toolbar does: with M 32 and K 48; no parameters are the scenario's defaults."""
    if not values:
        return "as it opens"
    labels = {p.name: p.label for p in scenario.parameters}
    return f"with {join_with_and([f'{labels[name]} {value}' for name, value in values.items()])}"

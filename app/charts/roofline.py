"""The roofline: rate over operational intensity under what the device reached.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52 (4), 2009.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...tracer.measurement import Row
from ...tracer.traffic import traffic_of
from .bars import Rows, datum_of, told_apart
from .choose import Choice, slots_of, timing_of
from .figure import Axis, Mark, Plane, Point, Roof, Series
from .sources import Measured
from .wording import number_text

X_MARKS: tuple[tuple[Mark, str], ...] = (("modelled", "FLOP"), ("exact", "bytes"))
Y_MARKS: tuple[tuple[Mark, str], ...] = (("modelled", "FLOP"), ("measured", "time, roofs"))
NOTES = (
    "Bytes: the sectors of 32 bytes that the kernel asks of global memory, counted from its trace.",
    "A point above the slope is fed by caches; the slope is what copying within the memory reached.",
)
LEAST = (
    "Hollow: nobody has counted the sectors, so bytes are those of all arrays once, the least that it can be."
)


def roofline(rows: Rows, choice: Choice) -> tuple[tuple[Plane, ...], tuple[str, ...]]:
    """Return GFLOP/s over FLOP per byte for each row that ran on a GPU, with the roofs of its devices."""
    slots = slots_of(choice.subjects)
    on_gpu = [(slots[s.key], found, m) for s, found in rows for m in found if _on_gpu(m.row)]
    series = tuple(_series(m, found, slot, choice) for slot, found, m in on_gpu)
    x = Axis("operational intensity", "FLOP/byte", True, X_MARKS)
    plane = Plane(x, Axis("rate", "GFLOP/s", True, Y_MARKS), series, tuple(_roofs([m for *_, m in on_gpu])))
    notes = [*NOTES, *([LEAST] if any(s.hollow for s in series) else [])]
    left_out = [m.row.title for _, found in rows for m in found if not _on_gpu(m.row)]
    notes += [f"{title} runs on the CPU, which has other roofs." for title in dict.fromkeys(left_out)]
    return (plane,), tuple(notes)


def _on_gpu(row: Row) -> bool:
    return row.engine in ("numba-cuda", "cuda-c")


def _series(measured: Measured, found: Sequence[Measured], slot: int, choice: Choice) -> Series:
    row, timing = measured.row, timing_of(measured.row, choice.kind)
    assert timing is not None  # the rows were chosen for having it
    traffic = traffic_of(row)
    intensity, (low, high) = row.flop / (traffic.bytes if traffic else row.bytes), timing.interval()
    rate = row.flop / timing.median / 1000
    told = f"{row.title}: {number_text(rate)} GFLOP/s at {number_text(intensity)} FLOP/byte"
    datum = datum_of(measured, choice.kind)
    point = Point(datum, intensity, rate, row.flop / high / 1000, row.flop / low / 1000, told)
    name = ", ".join(filter(None, [row.title, told_apart(measured, found)]))
    return Series(name, slot, _style(measured, found), (point,), hollow=traffic is None)


def _style(measured: Measured, found: Sequence[Measured]) -> int:
    return list(dict.fromkeys(id(m.source) for m in found)).index(id(measured.source))


def _roofs(drawn: Sequence[Measured]) -> list[Roof]:
    roofs = []
    for style, source in enumerate({id(m.source): m.source for m in drawn}.values()):
        ceilings = source.measurement.ceilings
        if ceilings is not None:
            roofs.append(Roof(source.device, style, ceilings.copy_gb_per_s, ceilings.float32_gflop_per_s))
    return roofs

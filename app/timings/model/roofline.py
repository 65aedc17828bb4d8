"""The roofline: rate over operational intensity, below the measured limits of the device.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52 (4), 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from ....tracer.hardware.profiling.profile_text import (
    amount_text,
    dram_text,
    hits_text,
    limiters_text,
    percent_text,
    share_text,
)
from ....tracer.hardware.profiling.row_figures import RowFigures, figures_of
from ....tracer.hardware.times.measurement import Row
from ....tracer.hardware.times.traffic import Traffic, traffic_of
from ...model.axis import Axis, Mark
from .bars import ChartRows, datum_of, distinguishing_text
from .choice import Choice, slots_of, timing_of
from .figure import Fact, Point, PointPanel, Roof, Series
from .sources import MeasuredRow, Source, sources_of
from .wording import number_text, real_of

X_MARKS: tuple[tuple[Mark, str], ...] = (("modelled", "FLOP"), ("exact", "bytes"))
Y_MARKS: tuple[tuple[Mark, str], ...] = (("modelled", "FLOP"), ("measured", "time, roofs"))
BEST = ("cublas", "cuda-c", "registers")  # the preferred peak for the roof, if there are several
NOTES = (
    "Bytes: the 32-byte sectors that the kernel requests from global memory, counted from its trace.",
    "Points above the slope profit from caches; the slope is the measured rate of copies within the memory.",
)
TENSOR_CORES = " The product is faster than the registers because the library uses tensor cores."
RING = (
    "Ring: the same rate over the bytes that DRAM moved, {how}; caches served the rest. An arrow points to a ring "
    "beyond the axis."
)
LEAST = "Hollow: the sectors were not counted, so the bytes are those of all arrays once, a lower bound."


def roofline(rows: ChartRows, choice: Choice) -> tuple[tuple[PointPanel, ...], tuple[str, ...]]:
    """Build the panel of GFLOP/s over FLOP per byte: rows that ran on a GPU, and the roofs of their devices."""
    slots = slots_of(choice.subjects)
    left_out = [m.row.title for _, measured_rows in rows for m in measured_rows if not on_gpu(m.row)]
    rows = [(subject, [m for m in measured_rows if on_gpu(m.row)]) for subject, measured_rows in rows]
    drawn = [m for _, measured_rows in rows for m in measured_rows]
    styles = {id(source): number for number, source in enumerate(sources_of(drawn))}
    series = tuple(
        _series(m, distinguishing_text(m, subject, rows), slots[subject.key], styles[id(m.source)], choice)
        for subject, measured_rows in rows
        for m in measured_rows
    )
    counted = dict.fromkeys(o for m in drawn if (o := figures_of_row(m, choice).origin))
    ring: tuple[tuple[Mark, str], ...] = (("measured", "bytes of rings"),) if counted else ()
    x = Axis("operational intensity", "FLOP/byte", True, (*X_MARKS, *ring))
    plane = PointPanel(x, Axis("rate", "GFLOP/s", True, Y_MARKS), series, tuple(_roofs(drawn)))
    notes = [*NOTES, *([_ring_note(counted)] if counted else [])]
    notes += [*([LEAST] if any(s.hollow for s in series) else []), *map(roof_text, plane.roofs)]
    if left_out:
        notes.append(f"On the CPU, so not under these roofs: {'; '.join(dict.fromkeys(left_out))}.")
    return (plane,), tuple(notes)


def _ring_note(origins: Iterable[str]) -> str:
    """Explain the rings, with the origin of their bytes."""
    texts = (origin[:1].lower() + origin[1:].rstrip(".") for origin in origins)
    return RING.format(how="; ".join(texts))


def roof_text(roof: Roof) -> str:
    """Describe a roof in one or two sentences."""
    reached = [
        (roof.reached_by, roof.gflop_per_s),
        *((f"{by}, dotted", rate) for by, rate in roof.other_rates),
    ]
    rates = ", ".join(f"{number_text(rate)} GFLOP/s ({by})" for by, rate in reached)
    above = TENSOR_CORES if any(rate < roof.gflop_per_s for _, rate in roof.other_rates) else ""
    return f"{roof.name}: {number_text(roof.gb_per_s)} GB/s in copies; {roof.dtype}: {rates}.{above}"


def on_gpu(row: Row) -> bool:
    """Return True if a row belongs under the roofs of a GPU."""
    return row.engine in ("numba-cuda", "cuda-c")


def _series(measured: MeasuredRow, part: str, slot: int, style: int, choice: Choice) -> Series:
    row, timing = measured.row, timing_of(measured.row, choice.kind)
    assert timing is not None  # only rows with this time are chosen
    traffic = traffic_of(row)
    intensity, (low, high) = row.flop / (traffic.bytes if traffic else row.bytes), timing.interval()
    rate = row.flop / timing.median / 1000
    figures, datum = figures_of_row(measured, choice), datum_of(measured, choice.kind)
    moved = figures.profile.dram_bytes if figures.profile else None
    point = Point(
        datum,
        intensity,
        rate,
        row.flop / high / 1000,
        row.flop / low / 1000,
        _text(row, rate, intensity, traffic, figures),
        measured_x=None if moved is None else row.flop / moved if moved else inf,
        facts=_facts(traffic, figures),
    )
    return Series(row.title, slot, style, (point,), part, hollow=traffic is None)


def figures_of_row(measured: MeasuredRow, choice: Choice) -> RowFigures:
    """Return the figures that explain a row's time."""
    return figures_of(measured.row, measured.source.measurement.device, choice.kind)


def _text(row: Row, rate: float, intensity: float, traffic: Traffic | None, figures: RowFigures) -> str:
    """Describe a point and its reasons, each number with its mark."""
    lines = [f"{row.title}: {number_text(rate)} GFLOP/s at {number_text(intensity)} FLOP/byte"]
    if traffic:
        lines.append(f"Requested from global memory: {amount_text(traffic.bytes)} (exact)")
    if figures.profile:
        texts = (dram_text(figures.profile), hits_text(figures.profile))
        lines += [f"{text} (measured)" for text in texts if text]
    if figures.room:
        share, limits = share_text(figures.room.occupancy.share), limiters_text(figures.room)
        lines.append(f"Occupancy {share}, limited by {limits} (modelled)")
    if figures.profile:
        lines.append(f"{percent_text(figures.profile.warps_active)} of the warps active (measured)")
        lines.append(figures.origin)
    return "\n".join(lines)


def _facts(traffic: Traffic | None, figures: RowFigures) -> tuple[Fact, ...]:
    room, profile = figures.room, figures.profile
    facts = [Fact("global memory traffic", "B", traffic.bytes, "exact")] if traffic else []
    facts += [Fact("occupancy", "%", 100 * room.occupancy.share, "modelled")] if room else []
    if profile is None:
        return tuple(facts)
    rates = (
        ("L1 hits", profile.l1_hits),
        ("L2 hits", profile.l2_hits),
        ("warps active", profile.warps_active),
    )
    return (
        *facts,
        Fact("DRAM read", "B", profile.dram_read, "measured"),
        Fact("DRAM written", "B", profile.dram_written, "measured"),
        *(Fact(name, "%", rate, "measured") for name, rate in rates if rate is not None),
    )


def _roofs(drawn: Sequence[MeasuredRow]) -> list[Roof]:
    """List a roof for each drawn device and dtype."""
    roofs: list[Roof] = []
    for source in sources_of(drawn):
        for real in sorted({real_of(m.row) for m in drawn if m.source is source}):
            roof = _roof(len(roofs), source, real)
            roofs += [roof] if roof else []
    return roofs


def _roof(style: int, source: Source, real: str) -> Roof | None:
    """Build the roof of a large product, with the rate of multiply-adds in registers as another rate."""
    ceilings = source.measurement.ceilings
    peaks = [peak for peak in ceilings.peaks if peak.dtype == real] if ceilings else []
    if ceilings is None or not peaks:
        return None
    best = min(peaks, key=lambda peak: BEST.index(peak.by))
    other_rates = [(p.method, p.gflop_per_s) for p in peaks if p.by == "registers" and p is not best]
    brief = "multiply-adds" if best.by == "registers" else "large product"
    reached = ceilings.copy_gb_per_s, best.gflop_per_s
    return Roof(source.device, style, *reached, real, best.method, brief, tuple(other_rates))

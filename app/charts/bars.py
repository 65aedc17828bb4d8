"""Charts of bars: times with their samples, speed-ups, first calls, copies."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ...kernels.scenarios.scenario import CUBLAS
from ...tracer.measure.measurement import Row, TimingKind
from .choice import ChartSubject, Choice, slots_of, subject_of_key, timing_of, title_of
from .figure import Axis, Bar, BarPanel, Datum, Mark
from .published import published_for
from .sources import MeasuredRow, origin_among, sources_of
from .wording import SHORT, number_text, problem_of, real_of, shape_of, time_text, unit_of

ChartRows = Sequence[tuple[ChartSubject, list[MeasuredRow]]]
BarPanels = tuple[tuple[BarPanel, ...], tuple[str, ...]]
IN_SIZE_AND_SHAPE = {
    "m",
    "k",
    "n",
    "rows",
    "cols",
    "count",
    "dtype",
    "tile",
    "threads",
    "num_blocks",
}  # by size and shape
WIDE = 50  # times the smallest from which on bars are drawn on a logarithmic axis unless one says otherwise
MEASURED: tuple[tuple[Mark, str], ...] = (("measured", ""),)
RATE: tuple[tuple[Mark, str], ...] = (("measured", "time"), ("modelled", "FLOP"))


def times(rows: ChartRows, choice: Choice) -> BarPanels:
    """Return a bar for each row: the median, its interval and its samples in microseconds."""
    return _timed(rows, choice, [choice.kind])


def ladder(rows: ChartRows, choice: Choice) -> BarPanels:
    """Return a bar for each row, from the slowest to the fastest."""
    (panel,), notes = times(rows, choice)
    slowest_first = sorted(panel.bars, key=lambda bar: -bar.value)
    return (replace(panel, bars=tuple(slowest_first)),), notes


def calls(rows: ChartRows, choice: Choice) -> BarPanels:
    """Return for each row the first call, which compiles, a later one, and the kernel alone."""
    return _timed(rows, choice, choice.kinds)


def copies(rows: ChartRows, choice: Choice) -> BarPanels:
    """Return for each row a call with copies of host data, one on device data, and the kernel alone."""
    return _timed(rows, choice, choice.kinds)


def _timed(rows: ChartRows, choice: Choice, kinds: Sequence[TimingKind]) -> BarPanels:
    slots = slots_of(choice.subjects)
    bars = [
        _bar(
            measured,
            kind,
            slots[subject.key],
            _part(measured, distinguishing_text(measured, subject, rows), kinds, kind),
            choice.published and measured.source is found[0].source,
        )
        for subject, found in rows
        for measured in found
        for kind in (kinds if measured.row.timing("cpu") is None else kinds[:1])
    ]
    unit, size = unit_of(max((bar.high for bar in bars), default=1.0))
    documents = sorted({mark.document for bar in bars for mark in bar.published})
    notes = [f"Published times, by the host's clock: {', '.join(documents)}."] if documents else []
    return (BarPanel(Axis("time", unit, is_log(choice, bars), _marks(bars), size), tuple(bars)),), tuple(
        notes
    )


def _marks(bars: Sequence[Bar]) -> tuple[tuple[Mark, str], ...]:
    published: tuple[Mark, str] = ("published", "diamonds")
    return (*MEASURED, published) if any(bar.published for bar in bars) else MEASURED


def _bar(measured: MeasuredRow, kind: TimingKind, slot: int, part: str, published: bool) -> Bar:
    row, timing = measured.row, timing_of(measured.row, kind)
    assert timing is not None  # the rows were chosen for having it
    low, high = timing.interval()
    text = "~" * (not timing.settled) + time_text(timing.median)
    marks = published_for(row, timing.kind) if published else ()
    datum = datum_of(measured, kind)
    return Bar(datum, part, timing.median, low, high, text, slot, timing.microseconds, marks)


def datum_of(measured: MeasuredRow, kind: TimingKind) -> Datum:
    """Return what a number drawn for a row brings along."""
    row, timing = measured.row, timing_of(measured.row, kind)
    assert timing is not None  # the rows were chosen for having it
    key = ChartSubject(row.scenario, row.baseline).key
    origin = measured.source.origin
    return Datum(key, row.title, origin, timing.kind, row.parameters, timing.microseconds, timing.settled)


def _part(measured: MeasuredRow, apart: str, kinds: Sequence[TimingKind], kind: TimingKind) -> str:
    """Return what tells a bar from the others of its kernel: the kind of time, the blocks, the device."""
    parts = [SHORT[kind]] if len(kinds) > 1 and measured.row.timing("cpu") is None else []
    return " · ".join(filter(None, [*parts, apart]))


def distinguishing_text(measured: MeasuredRow, subject: ChartSubject, rows: ChartRows) -> str:
    """Return what tells a row from all that is drawn of its kernel, by size and blocks, and from other measurements.

    With parameters given a kernel may be chosen more than once.
    """
    alike = [m.row for other, found in rows if other.key == subject.key for m in found]
    sources = sources_of(m for _, found in rows for m in found)
    return " · ".join(filter(None, (_differing(measured.row, alike), origin_among(measured, sources))))


def _differing(row: Row, rows: Sequence[Row]) -> str:
    """Return the size and the launch shape where they differ, and parameters that differ beside them."""
    texts = [tell(row) for tell in (problem_of, shape_of) if len({tell(other) for other in rows}) > 1]
    # A parameter that a row does not name is newer than the row, and as such tells nothing apart.
    names = [n for n, v in row.parameters.items() if len({str(r.parameters.get(n, v)) for r in rows}) > 1]
    texts += [f"{name} {row.parameters[name]}" for name in names if name not in IN_SIZE_AND_SHAPE]
    return ", ".join(filter(None, texts))


def is_log(choice: Choice, bars: Sequence[Bar]) -> bool:
    """Return whether the axis is logarithmic: as chosen, else where the values lie far apart."""
    values = [bar.value for bar in bars]
    return choice.log if choice.log is not None else bool(values) and max(values) > WIDE * min(values)


def cublas(rows: ChartRows, choice: Choice) -> BarPanels:
    """Return a bar for each row with arithmetic, from the slowest to the fastest: its rate in per cent of cuBLAS's.

    That is cuBLAS at the same size, measured with the same method; where it was not, the large product that is its
    ceiling.
    """
    slots = slots_of(choice.subjects)
    found = [(m, s, _cublas_rate(m, rows, choice.kind)) for s, mine in rows for m in mine if m.row.flop]
    bars = [
        _share(m, rate, choice.kind, slots[s.key], distinguishing_text(m, s, rows))
        for m, s, (rate, _) in found
        if rate
    ]
    bars.sort(key=lambda bar: bar.value)
    notes = tuple(dict.fromkeys(note for _, _, (_, note) in found if note))
    axis = Axis(
        "rate, of cuBLAS's", "%", bool(choice.log), RATE
    )  # from nothing to all: linear unless one says so
    return (BarPanel(axis, tuple(bars), 100.0),), notes


def _cublas_rate(measured: MeasuredRow, rows: ChartRows, kind: TimingKind) -> tuple[float, str]:
    """Return what cuBLAS reached beside a row, in GFLOP/s, and a sentence about it; 0 where it was not measured."""
    source, row = measured.source, measured.row
    beside = [m.row for _, found in rows for m in found if m.source is source and m.row.baseline == CUBLAS]
    for other in beside:
        timing = timing_of(other, kind)
        if timing and problem_of(other) == problem_of(row):
            rate = other.flop / timing.median / 1000
            return rate, f"100 %: {number_text(rate)} GFLOP/s, cuBLAS at the same size."
    ceilings = source.measurement.ceilings
    for peak in ceilings.peaks if ceilings else ():
        if (peak.dtype, peak.by) == (real_of(row), "cublas"):
            return peak.gflop_per_s, f"100 %: {number_text(peak.gflop_per_s)} GFLOP/s, {peak.told}."
    return 0.0, "cuBLAS was not measured beside these, so that there is nothing to compare with."


def _share(measured: MeasuredRow, rate: float, kind: TimingKind, slot: int, part: str) -> Bar:
    row, timing = measured.row, timing_of(measured.row, kind)
    assert timing is not None  # the rows were chosen for having it
    low, high = timing.interval()
    share, least, most = (row.flop / time / 10 / rate for time in (timing.median, high, low))
    text = f"{'~' * (not timing.settled)}{number_text(share)} %"
    return Bar(datum_of(measured, kind), part, share, least, most, text, slot)


def speedup(rows: ChartRows, choice: Choice) -> BarPanels:
    """Return how many times as fast as the baseline each row is: the ratio of two medians.

    A row is compared with the baseline's row of the same measurement. The interval is that of the ratio where
    both medians lie in theirs.
    """
    against = choice.against or (choice.subjects[0].key if choice.subjects else "")
    bases = {id(m.source): m for s, found in reversed(rows) if s.key == against for m in reversed(found)}
    slots = slots_of(choice.subjects)
    bars = [
        _ratio(m, bases[id(m.source)], choice.kind, slots[subject.key], distinguishing_text(m, subject, rows))
        for subject, found in rows
        for m in found
        if id(m.source) in bases
    ]
    name = next((m.row.title for m in bases.values()), "")
    without = [m.row.title for _, found in rows for m in found if id(m.source) not in bases]
    axis = Axis(f"times as fast as {name}" if name else "speed-up", "×", is_log(choice, bars), MEASURED)
    return (BarPanel(axis, tuple(bars), 1.0),), _without_base(against, without, bool(bases))


def _without_base(against: str, without: Sequence[str], is_measured: bool) -> tuple[str, ...]:
    """Return a sentence about titles whose measurement has no baseline, or about a baseline that none has."""
    title = title_of(subject_of_key(against)) if against else "Nothing"
    if not is_measured:
        return (f"{title} was not measured like this, so that there is nothing to compare with.",)
    sentence = f"Not compared: {'; '.join(dict.fromkeys(without))}, measured without {title}."
    return (sentence,) if without else ()


def _ratio(measured: MeasuredRow, base: MeasuredRow, kind: TimingKind, slot: int, part: str) -> Bar:
    mine, other = timing_of(measured.row, kind), timing_of(base.row, kind)
    assert mine is not None and other is not None  # the rows were chosen for having it
    (low, high), (base_low, base_high) = mine.interval(), other.interval()
    ratio = other.median / mine.median
    text = "~" * (not (mine.settled and other.settled)) + f"{number_text(ratio)}×"
    return Bar(datum_of(measured, kind), part, ratio, base_low / high, base_high / low, text, slot)

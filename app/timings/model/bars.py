"""Bar charts: times with their samples and published figures, speed-ups, first calls, copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec.structs import replace

from .... import resources
from ....kernels.scenarios.scenario import CUBLAS
from ....tracer.hardware.times.measurement import Row, TimingKind
from ...model.axis import Axis, Mark
from .choice import ChartSubject, Choice, slots_of, subject_of_key, timing_of, title_of
from .figure import Bar, BarPanel, Datum, Published
from .sources import MeasuredRow, origin_among, sources_of
from .wording import SHORT, number_text, problem_of, real_of, shape_of, time_text, unit_of

ChartRows = Sequence[tuple[ChartSubject, list[MeasuredRow]]]
BarPanels = tuple[tuple[BarPanel, ...], tuple[str, ...]]
IN_SIZE_AND_SHAPE = {"m", "k", "n", "rows", "cols", "count", "dtype", "tile", "threads", "num_blocks"}
WIDE = 50  # ratio of the largest to the smallest value from which on an axis is logarithmic by default
MEASURED: tuple[tuple[Mark, str], ...] = (("measured", ""),)
RATE: tuple[tuple[Mark, str], ...] = (("measured", "time"), ("modelled", "FLOP"))


class PublishedTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A published time of a kernel or a baseline."""

    document: str  # the number of the document
    title: str  # the title of the document
    gpu: str  # "" for a program on the CPU
    scenario: str  # the name in the catalogue
    baseline: str  # the name of the scenario's baseline, "" for its kernel
    parameters: dict[str, int | str]  # the parameters that a row must have, by name
    kind: TimingKind
    microseconds: float  # by the host's clock


@cache
def published_times() -> tuple[PublishedTime, ...]:
    """Load all published figures."""
    text = files(resources).joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=tuple[PublishedTime, ...])


def published_for(row: Row, kind: TimingKind) -> tuple[Published, ...]:
    """List the published figures of a row.

    The documents timed calls on device data, also where they write of kernel times. Such a figure is shown for both
    kinds.
    """
    wanted = {"kernel-warm": "call", "kernel-cold": "call"}.get(kind, kind)
    fitting = [e for e in published_times() if _fits(e, row) and e.kind == wanted]
    return tuple(Published(e.microseconds, _published_text(e), e.title) for e in fitting)


def _fits(entry: PublishedTime, row: Row) -> bool:
    if (entry.scenario, entry.baseline) != (row.scenario, row.baseline):
        return False
    return all(row.parameters.get(name) == value for name, value in entry.parameters.items())


def _published_text(entry: PublishedTime) -> str:
    return f"{time_text(entry.microseconds)}, {entry.gpu or 'CPU not named'}"


def time_bars(rows: ChartRows, choice: Choice) -> BarPanels:
    """Build a bar for each row: the median, its interval and its samples in microseconds."""
    return _timed(rows, choice, [choice.kind])


def ladder_bars(rows: ChartRows, choice: Choice) -> BarPanels:
    """Build a bar for each row, from the slowest to the fastest."""
    (panel,), notes = time_bars(rows, choice)
    slowest_first = sorted(panel.bars, key=lambda bar: -bar.value)
    return (replace(panel, bars=tuple(slowest_first)),), notes


def call_bars(rows: ChartRows, choice: Choice) -> BarPanels:
    """Build three bars for each row: the first call, which compiles, a later call, and only the kernel."""
    return _timed(rows, choice, choice.kinds)


def copy_bars(rows: ChartRows, choice: Choice) -> BarPanels:
    """Build three bars for each row: a call with copies of host data, a call on device data, and only the kernel."""
    return _timed(rows, choice, choice.kinds)


def _timed(rows: ChartRows, choice: Choice, kinds: Sequence[TimingKind]) -> BarPanels:
    slots = slots_of(choice.subjects)
    bars = [
        _bar(
            measured,
            kind,
            slots[subject.key],
            _part(measured, distinguishing_text(measured, subject, rows), kinds, kind),
            choice.published and measured.source is measured_rows[0].source,
        )
        for subject, measured_rows in rows
        for measured in measured_rows
        for kind in (kinds if measured.row.timing("cpu") is None else kinds[:1])
    ]
    unit, size = unit_of(max((bar.high for bar in bars), default=1.0))
    documents = sorted({mark.document for bar in bars for mark in bar.published})
    notes = [f"Published times, by the host's clock: {', '.join(documents)}."] if documents else []
    return (
        BarPanel(Axis("time", unit, is_logarithmic(choice, bars), _marks(bars), size), tuple(bars)),
    ), tuple(notes)


def _marks(bars: Sequence[Bar]) -> tuple[tuple[Mark, str], ...]:
    published: tuple[Mark, str] = ("published", "diamonds")
    return (*MEASURED, published) if any(bar.published for bar in bars) else MEASURED


def _bar(measured: MeasuredRow, kind: TimingKind, slot: int, part: str, published: bool) -> Bar:
    row, timing = measured.row, timing_of(measured.row, kind)
    assert timing is not None  # only rows with this time are chosen
    low, high = timing.interval()
    text = "~" * (not timing.settled) + time_text(timing.median)
    marks = published_for(row, timing.kind) if published else ()
    datum = datum_of(measured, kind)
    return Bar(datum, part, timing.median, low, high, text, slot, timing.microseconds, marks)


def datum_of(measured: MeasuredRow, kind: TimingKind) -> Datum:
    """Describe the row that a drawn number belongs to."""
    row, timing = measured.row, timing_of(measured.row, kind)
    assert timing is not None  # only rows with this time are chosen
    key = ChartSubject(row.scenario, row.baseline).key
    origin = measured.source.origin
    return Datum(key, row.title, origin, timing.kind, row.parameters, timing.microseconds, timing.settled)


def _part(measured: MeasuredRow, distinction: str, kinds: Sequence[TimingKind], kind: TimingKind) -> str:
    """Return the text that distinguishes a bar from others of its kernel: kind of time, blocks, device."""
    parts = [SHORT[kind]] if len(kinds) > 1 and measured.row.timing("cpu") is None else []
    return " · ".join(filter(None, [*parts, distinction]))


def distinguishing_text(measured: MeasuredRow, subject: ChartSubject, rows: ChartRows) -> str:
    """Return the size, blocks and origin that distinguish a row from the other rows of its kernel.

    A kernel with given parameters may be chosen more than once.
    """
    alike = [m.row for other, measured_rows in rows if other.key == subject.key for m in measured_rows]
    sources = sources_of(m for _, measured_rows in rows for m in measured_rows)
    return " · ".join(filter(None, (_differing(measured.row, alike), origin_among(measured, sources))))


def _differing(row: Row, rows: Sequence[Row]) -> str:
    """Return the size, the launch shape and other parameters, as far as they differ."""
    texts = [
        text_of(row) for text_of in (problem_of, shape_of) if len({text_of(other) for other in rows}) > 1
    ]
    # A row without a parameter is older than the parameter, so the missing value is no difference.
    names = [n for n, v in row.parameters.items() if len({str(r.parameters.get(n, v)) for r in rows}) > 1]
    texts += [f"{name} {row.parameters[name]}" for name in names if name not in IN_SIZE_AND_SHAPE]
    return ", ".join(filter(None, texts))


def is_logarithmic(choice: Choice, bars: Sequence[Bar]) -> bool:
    """Return True if the axis is logarithmic: as chosen, else if the values lie far apart."""
    values = [bar.value for bar in bars]
    return choice.log if choice.log is not None else bool(values) and max(values) > WIDE * min(values)


def cublas_bars(rows: ChartRows, choice: Choice) -> BarPanels:
    """Build a bar for each row with arithmetic, from the slowest to the fastest: its rate in per cent of cuBLAS's.

    The reference is cuBLAS at the same size, measured with the same method; if missing, the large product of the
    ceilings.
    """
    slots = slots_of(choice.subjects)
    rated = [
        (m, s, _cublas_rate(m, rows, choice.kind))
        for s, measured_rows in rows
        for m in measured_rows
        if m.row.flop
    ]
    bars = [
        _share(m, rate, choice.kind, slots[s.key], distinguishing_text(m, s, rows))
        for m, s, (rate, _) in rated
        if rate
    ]
    bars.sort(key=lambda bar: bar.value)
    notes = tuple(dict.fromkeys(note for _, _, (_, note) in rated if note))
    # From 0 to 100 %: linear by default.
    axis = Axis("rate, of cuBLAS's", "%", bool(choice.log), RATE)
    return (BarPanel(axis, tuple(bars), 100.0),), notes


def _cublas_rate(measured: MeasuredRow, rows: ChartRows, kind: TimingKind) -> tuple[float, str]:
    """Return cuBLAS's rate next to a row in GFLOP/s, and a sentence about it; 0 if it was not measured."""
    source, row = measured.source, measured.row
    cublas_rows = [
        m.row
        for _, measured_rows in rows
        for m in measured_rows
        if m.source is source and m.row.baseline == CUBLAS
    ]
    for other in cublas_rows:
        timing = timing_of(other, kind)
        if timing and problem_of(other) == problem_of(row):
            rate = other.flop / timing.median / 1000
            return rate, f"100 %: {number_text(rate)} GFLOP/s, cuBLAS at the same size."
    ceilings = source.measurement.ceilings
    for peak in ceilings.peaks if ceilings else ():
        if (peak.dtype, peak.by) == (real_of(row), "cublas"):
            return peak.gflop_per_s, f"100 %: {number_text(peak.gflop_per_s)} GFLOP/s, {peak.method}."
    return 0.0, "cuBLAS was not measured with these kernels, so there is nothing to compare with."


def _share(measured: MeasuredRow, rate: float, kind: TimingKind, slot: int, part: str) -> Bar:
    row, timing = measured.row, timing_of(measured.row, kind)
    assert timing is not None  # only rows with this time are chosen
    low, high = timing.interval()
    share, least, most = (row.flop / time / 10 / rate for time in (timing.median, high, low))
    text = f"{'~' * (not timing.settled)}{number_text(share)} %"
    return Bar(datum_of(measured, kind), part, share, least, most, text, slot)


def speedup_bars(rows: ChartRows, choice: Choice) -> BarPanels:
    """Build a bar for each row: its speed-up over the baseline, the ratio of two medians.

    A row is compared with the baseline's row of the same measurement. The interval is the range of the ratio for
    medians in their own intervals.
    """
    against = choice.against or (choice.subjects[0].key if choice.subjects else "")
    bases = {
        id(m.source): m
        for s, measured_rows in reversed(rows)
        if s.key == against
        for m in reversed(measured_rows)
    }
    slots = slots_of(choice.subjects)
    bars = [
        _ratio(m, bases[id(m.source)], choice.kind, slots[subject.key], distinguishing_text(m, subject, rows))
        for subject, measured_rows in rows
        for m in measured_rows
        if id(m.source) in bases
    ]
    name = next((m.row.title for m in bases.values()), "")
    without = [m.row.title for _, measured_rows in rows for m in measured_rows if id(m.source) not in bases]
    axis = Axis(
        f"times as fast as {name}" if name else "speed-up", "×", is_logarithmic(choice, bars), MEASURED
    )
    return (BarPanel(axis, tuple(bars), 1.0),), _without_base(against, without, bool(bases))


def _without_base(against: str, without: Sequence[str], is_measured: bool) -> tuple[str, ...]:
    """Explain which rows have no baseline in their measurement, or that the baseline was not measured."""
    title = title_of(subject_of_key(against)) if against else "Nothing"
    if not is_measured:
        return (f"{title} was not measured like this, so there is nothing to compare with.",)
    sentence = f"Not compared: {'; '.join(dict.fromkeys(without))}, measured without {title}."
    return (sentence,) if without else ()


def _ratio(measured: MeasuredRow, base: MeasuredRow, kind: TimingKind, slot: int, part: str) -> Bar:
    timing, base_timing = timing_of(measured.row, kind), timing_of(base.row, kind)
    assert timing is not None and base_timing is not None  # only rows with this time are chosen
    (low, high), (base_low, base_high) = timing.interval(), base_timing.interval()
    ratio = base_timing.median / timing.median
    text = "~" * (not (timing.settled and base_timing.settled)) + f"{number_text(ratio)}×"
    return Bar(datum_of(measured, kind), part, ratio, base_low / high, base_high / low, text, slot)

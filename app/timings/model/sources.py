"""The measurements that charts use: those that ship with Tilescope, and those made on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ....kernels.scenarios.catalogue import find
from ....tracer.hardware.times.measurement import (
    Measurement,
    MeasurementError,
    Row,
    load,
    recorded_measurements,
)
from ....tracer.storage.folders import data_folder

Stamp = tuple[int, int, int]


class Source(Struct, frozen=True):
    """A measurement file, or several recorded files that continue each other."""

    path: Path  # of the first file
    measurement: Measurement  # with the rows of all files
    recorded: bool = False  # it ships with Tilescope
    later: tuple[str, ...] = ()  # the dates of the files that continue it, as 2026-11-22

    @property
    def device(self) -> str:
        """The GPU, or the processor where there was none."""
        measurement = self.measurement
        return measurement.device.name if measurement.device else measurement.host.processor

    @property
    def origin(self) -> str:
        """The device and the date: NVIDIA H200, recorded on 2026-11-21."""
        return f"{self.device}, {self.when}"

    @property
    def when(self) -> str:
        """The date, and whether it ships with Tilescope or was made here."""
        date = self.measurement.date
        return (
            f"recorded on {_days((date[:10], *self.later))}"
            if self.recorded
            else f"measured here on {date[:16].replace('T', ' ')} UTC"
        )

    @property
    def line(self) -> str:
        """The origin with driver, clocks, host and version."""
        measurement, device = self.measurement, self.measurement.device
        parts = [self.origin]
        if device is not None:
            parts.append(f"driver {device.driver or 'unknown'}, CUDA {device.cuda[0]}.{device.cuda[1]}")
            if device.clocks is not None:
                parts.append(f"SM {device.clocks.sm:,} MHz")
        parts.append(f"CPU {measurement.host.processor}" if device else measurement.host.system)
        changed = " with changes" if measurement.revision.endswith("+") else ""
        revision = f" ({measurement.revision[:7]}{changed})" if measurement.revision else ""
        parts.append(f"Tilescope {measurement.versions.get('tilescope', 'of unknown version')}{revision}")
        return " · ".join(parts)


def _days(days: Sequence[str]) -> str:
    """Join dates: 2026-11-21, 22 and 23; only the first of a month is complete."""
    texts = [day[8:] if day[:8] == before[:8] else day for before, day in pairwise(("", *days))]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


class MeasuredRow(Struct, frozen=True):
    """A row and its measurement."""

    source: Source
    row: Row

    @property
    def ran_on(self) -> str:
        """The GPU of a kernel, the processor of a program."""
        on_cpu = self.row.timing("cpu") is not None
        return self.source.measurement.host.processor if on_cpu else self.source.device


def sources_of(drawn: Iterable[MeasuredRow]) -> list[Source]:
    """List the measurements of rows, each once."""
    return list({id(m.source): m.source for m in drawn}.values())


def origin_among(measured: MeasuredRow, sources: Sequence[Source]) -> str:
    """Return the device, else the date, that distinguishes a row's measurement; "" if there is only one."""
    if len(sources) < 2:
        return ""
    if len({MeasuredRow(source, measured.row).ran_on for source in sources}) == len(sources):
        return measured.ran_on
    date = measured.source.measurement.date
    return f"recorded {date[:10]}" if measured.source.recorded else f"here {date[:16].replace('T', ' ')}"


def own_folder() -> Path:
    """Return the folder of the measurements made here. It may not exist yet."""
    return data_folder() / "measurements"


def sources() -> tuple[list[Source], list[str]]:
    """List the readable measurements: recorded ones first, then own ones, the latest first.

    The second list has a sentence for each unreadable file. Recorded files that continue each other are merged.
    """
    own = sorted(own_folder().glob("*.json"), reverse=True)
    paths = [*((path, True) for path in recorded_measurements()), *((path, False) for path in own)]
    readable, complaints = _sources(tuple((path, is_recorded, _stamp(path)) for path, is_recorded in paths))
    return list(readable), list(complaints)


@lru_cache(maxsize=4)
def _sources(files: tuple[tuple[Path, bool, Stamp], ...]) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    readable, complaints = [], []
    for path, is_recorded, stamp in files:
        try:
            readable.append(_source(path, is_recorded, stamp))
        except MeasurementError as error:
            complaints.append(str(error))
    return tuple(_merged(readable)), tuple(complaints)


def _merged(measurements: Sequence[Source]) -> list[Source]:
    """Merge recorded measurements whose device, host, versions and method agree."""
    merged: dict[object, Source] = {}
    for source in measurements:
        measurement = source.measurement
        key = (
            repr((measurement.device, measurement.host, measurement.method, measurement.versions))
            if source.recorded
            else source.path
        )
        merged[key] = _with_rows_of(merged[key], source) if key in merged else source
    return list(merged.values())


def _with_rows_of(first: Source, later: Source) -> Source:
    """Add the rows of a later measurement, which replace earlier rows of the same program."""
    rows = tuple({_identity(row): row for row in (*first.measurement.rows, *later.measurement.rows)}.values())
    days = dict.fromkeys((*first.later, later.measurement.date[:10]))
    days.pop(first.measurement.date[:10], None)
    return replace(first, measurement=replace(first.measurement, rows=rows), later=tuple(days))


def _identity(row: Row) -> object:
    """Return a key that is equal for rows of the same program on the same data."""
    return row.scenario, row.baseline, tuple(sorted((n, str(v)) for n, v in all_parameters(row).items()))


def all_parameters(row: Row) -> dict[str, int | str]:
    """Return a row's parameters, with defaults for parameters that are newer than the row."""
    return {parameter.name: parameter.default for parameter in find(row.scenario).parameters} | row.parameters


def _stamp(path: Path) -> Stamp:
    """Return the size and the change times in nanoseconds, which change with the file."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0, 0
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


@lru_cache(maxsize=16)
def _source(path: Path, is_recorded: bool, stamp: Stamp) -> Source:
    """Load a file's measurement, cached until the file changes; raises MeasurementError."""
    return Source(path, load(path), is_recorded)


def default_sources(measurements: Sequence[Source]) -> list[Source]:
    """Return the measurements that charts show by default: the recorded ones and the latest one made here."""
    own = [source for source in measurements if not source.recorded]
    return [source for source in measurements if source.recorded or source in own[:1]]


def rows_of(chosen: Iterable[Source]) -> list[MeasuredRow]:
    """List all rows of these measurements."""
    return [MeasuredRow(source, row) for source in chosen for row in source.measurement.rows]

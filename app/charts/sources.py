"""Where times come from: the measurements that Tilescope brings along, and those made here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ...kernels.scenarios.catalogue import find
from ...tracer.measure.measurement import Measurement, MeasurementError, Row, load, recorded
from ...tracer.storage.folders import data_folder

Stamp = tuple[int, int, int]


class Source(Struct, frozen=True):
    """A measurement file, or recorded ones of which each goes on with the one before."""

    path: Path  # of the first file
    measurement: Measurement  # with the rows of all
    recorded: bool = False  # whether it came with Tilescope
    later: tuple[str, ...] = ()  # the days on which it was gone on with, as 2026-11-22

    @property
    def device(self) -> str:
        """The GPU, or the processor where there was none."""
        measurement = self.measurement
        return measurement.device.name if measurement.device else measurement.host.processor

    @property
    def origin(self) -> str:
        """Where it comes from: NVIDIA H200, recorded on 2026-11-21."""
        return f"{self.device}, {self.when}"

    @property
    def when(self) -> str:
        """Whether it came with Tilescope, and when it was made."""
        date = self.measurement.date
        return (
            f"recorded on {_days((date[:10], *self.later))}"
            if self.recorded
            else f"measured here on {date[:16].replace('T', ' ')} UTC"
        )

    @property
    def line(self) -> str:
        """The origin with what the times depend on."""
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
    """Return days as 2026-11-21, 22 and 23: of those of one month the first is told in full."""
    told = [day[8:] if day[:8] == before[:8] else day for before, day in pairwise(("", *days))]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


class MeasuredRow(Struct, frozen=True):
    """A row and where it comes from."""

    source: Source
    row: Row

    @property
    def ran_on(self) -> str:
        """The GPU of a kernel, the processor of a program."""
        on_cpu = self.row.timing("cpu") is not None
        return self.source.measurement.host.processor if on_cpu else self.source.device


def sources_of(drawn: Iterable[MeasuredRow]) -> list[Source]:
    """Return the measurements that rows come from, each once."""
    return list({id(m.source): m.source for m in drawn}.values())


def origin_among(measured: MeasuredRow, sources: Sequence[Source]) -> str:
    """Return what tells a row's measurement from others: what it ran on, else when; "" where there are no others."""
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
    """Return the measurements that can be read, recorded ones first, then own ones from the latest on.

    With them one sentence for each file that can't be. Recorded ones of which one goes on with another are one.
    """
    own = sorted(own_folder().glob("*.json"), reverse=True)
    paths = [*((path, True) for path in recorded()), *((path, False) for path in own)]
    found, complaints = _sources(tuple((path, is_recorded, _stamp(path)) for path, is_recorded in paths))
    return list(found), list(complaints)


@lru_cache(maxsize=4)
def _sources(files: tuple[tuple[Path, bool, Stamp], ...]) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    found, complaints = [], []
    for path, is_recorded, stamp in files:
        try:
            found.append(_source(path, is_recorded, stamp))
        except MeasurementError as error:
            complaints.append(str(error))
    return tuple(_continued(found)), tuple(complaints)


def _continued(found: Sequence[Source]) -> list[Source]:
    """Return measurements, recorded ones made one where their device, host, versions and method agree."""
    whole: dict[object, Source] = {}
    for source in found:
        made = source.measurement
        alike = repr((made.device, made.host, made.method, made.versions)) if source.recorded else source.path
        whole[alike] = _gone_on(whole[alike], source) if alike in whole else source
    return list(whole.values())


def _gone_on(first: Source, more: Source) -> Source:
    """Return a measurement with the rows of one that went on with it, which take the place of the same earlier ones."""
    rows = tuple({_same(row): row for row in (*first.measurement.rows, *more.measurement.rows)}.values())
    days = dict.fromkeys((*first.later, more.measurement.date[:10]))
    days.pop(first.measurement.date[:10], None)
    return replace(first, measurement=replace(first.measurement, rows=rows), later=tuple(days))


def _same(row: Row) -> object:
    """Return what is equal for rows of the same program on the same."""
    return row.scenario, row.baseline, tuple(sorted((n, str(v)) for n, v in all_parameters(row).items()))


def all_parameters(row: Row) -> dict[str, int | str]:
    """Return a row's parameters, with the defaults of those that there were not when it was measured."""
    return {parameter.name: parameter.default for parameter in find(row.scenario).parameters} | row.parameters


def _stamp(path: Path) -> Stamp:
    """Return what changes with a file: its bytes, and when it and its permissions were changed, in nanoseconds."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0, 0
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


@lru_cache(maxsize=16)
def _source(path: Path, is_recorded: bool, stamp: Stamp) -> Source:
    """Return a file's measurement, read once as long as it stays as it is; raises MeasurementError."""
    return Source(path, load(path), is_recorded)


def usual(found: Sequence[Source]) -> list[Source]:
    """Return the measurements that charts show unless somebody chooses: the recorded ones and the latest made here."""
    own = [source for source in found if not source.recorded]
    return [source for source in found if source.recorded or source in own[:1]]


def rows_of(chosen: Iterable[Source]) -> list[MeasuredRow]:
    """Return all rows of these measurements."""
    return [MeasuredRow(source, row) for source in chosen for row in source.measurement.rows]

"""Where times come from: the measurements that Tilescope brings along, and those made here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...tracer.measure.measurement import Measurement, MeasurementError, Row, load, recorded
from ...tracer.storage.folders import data_folder


@dataclass(frozen=True)
class Source:
    """A measurement file. recorded: it came with Tilescope."""

    path: Path
    measurement: Measurement
    recorded: bool = False

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
            f"recorded on {date[:10]}"
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


@dataclass(frozen=True)
class MeasuredRow:
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

    With them one sentence for each file that can't be.
    """
    found, complaints = [], []
    own = sorted(own_folder().glob("*.json"), reverse=True)
    for path, is_recorded in [*((p, True) for p in recorded()), *((p, False) for p in own)]:
        try:
            found.append(Source(path, load(path), is_recorded))
        except MeasurementError as error:
            complaints.append(str(error))
    return found, complaints


def rows_of(chosen: Iterable[Source]) -> list[MeasuredRow]:
    """Return all rows of these measurements."""
    return [MeasuredRow(source, row) for source in chosen for row in source.measurement.rows]

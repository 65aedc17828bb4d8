"""Measurements: times of kernels and of CPU programs with all samples, and their files."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from pathlib import Path
from typing import Final, Literal

import msgspec

from .... import ROOT
from ...model.launch import Dim3
from ...storage.atomic_write import write_atomically

FORMAT: Final = "tilescope measurement"
VERSION: Final = 2
LARGEST = 256_000_000  # bytes of a file
SIZES = (
    ("m", "k", "n"),
    ("rows", "cols"),
    ("count",),
    ("num_blocks",),
    ("threads",),
    ("tile",),
)  # parameters that must be positive integers, if present
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

# The values of newer parameters that older files lack.
NEWER: Final[dict[str, int | str]] = {"dtype_b": "same", "padding": 0}

TimingKind = Literal["first-call", "call", "kernel-cold", "kernel-warm", "with-copies", "launch", "cpu"]
Real = Literal["float32", "float64"]
Engine = Literal["numba-cuda", "cuda-c", "python", "numba", "numpy", "cublas"]
TIMING_KINDS: dict[TimingKind, str] = {
    "first-call": "first call, which compiles",
    "call": "later call on device data, host clock",
    "kernel-cold": "kernel only, L2 cache flushed",
    "kernel-warm": "kernel only, L2 cache warm",
    "with-copies": "with copies of host data, host clock",
    "launch": "host time of a launch",
    "cpu": "program on the CPU",
}


class MeasurementError(Exception):
    """A measurement that can't be made, written or read; the text is one sentence for the user."""


class Timing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The samples of one kind, in the order of measurement."""

    kind: TimingKind
    microseconds: tuple[float, ...]
    settled: bool  # the median is known to the method's precision; otherwise the time limit ended sampling

    @property
    def median(self) -> float:
        """The median, in microseconds."""
        return median(self.microseconds)

    def interval(self) -> tuple[float, float]:
        """Compute the median's 95 % confidence interval, in microseconds."""
        return median_interval(self.microseconds)


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The comparison of a result with NumPy in float64."""

    largest_error: float | None  # absolute; None if not finite
    tolerance: float  # absolute
    equal: bool  # the error is tolerated


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kernel or program with one set of parameters."""

    scenario: str  # the name in the catalogue
    title: str
    baseline: str  # the name of the scenario's baseline, "" for its kernel
    engine: Engine
    kernel: str  # `module:function`, or `file.cu:function`
    parameters: dict[str, int | str]  # all of them
    grid: Dim3  # in blocks
    block: Dim3  # in threads
    shared_bytes: int  # of dynamic shared memory, per block
    arrays: dict[str, tuple[tuple[int, ...], str]]  # shape and dtype, by name
    bytes: int  # of all arrays
    flop: int  # by the catalogue's formula (modelled)
    result: Result | None = None  # None if it did not finish
    timings: tuple[Timing, ...] = ()  # one of each kind that was measured
    problem: str = ""  # one sentence why there are no timings, else ""
    # Of a wrong kernel with a single result: that result in each of many launches.
    outcomes: tuple[float, ...] = ()

    def timing(self, kind: TimingKind) -> Timing | None:
        """Return the timing of a kind, or None."""
        return next((timing for timing in self.timings if timing.kind == kind), None)


class ClockRates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rates of the device's clocks in MHz, read while it was busy."""

    sm: int
    memory: int


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The GPU."""

    name: str  # from the driver
    compute_capability: tuple[int, int]  # major, minor
    multiprocessors: int
    memory_bytes: int  # of global memory
    l2_bytes: int  # of the L2 cache
    driver: str  # version of the kernel driver, "" if unknown
    cuda: tuple[int, int]  # the latest version that the driver supports: major, minor
    clocks: ClockRates | None  # None if unknown


class Peak(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measured rate of arithmetic of the device."""

    dtype: Real  # of the operands and the results
    by: Literal["cublas", "cuda-c", "registers"]  # a large product of matrices, or all operands in registers
    method: str = msgspec.field(name="told")  # the method as text
    gflop_per_s: float  # the median of ten


class Ceilings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The measured limits of the device."""

    copy_gb_per_s: float  # copying within its memory: read plus written
    peaks: tuple[Peak, ...]  # arithmetic
    empty_kernel_us: float  # microseconds of an empty kernel
    two_events_us: float  # microseconds between two events around nothing, subtracted from all other times

    @property
    def rates(self) -> tuple[float, ...]:
        """All rates, GB/s and GFLOP/s."""
        return self.copy_gb_per_s, *(peak.gflop_per_s for peak in self.peaks)


class Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The computer: its processor, its usable cores, and its operating system."""

    processor: str
    cores: int
    system: str


class Method(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The method of the measurement."""

    precision: float  # half the width of a median's interval over the median, at which sampling ends
    time_limit: float  # seconds for each timing
    notes: tuple[str, ...]  # explanatory sentences


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results of one run of `tilescope measure`."""

    date: str  # ISO 8601, UTC
    revision: str  # of git, with + if files differ from it, "" if unknown
    device: Device | None  # None if no row needed one
    host: Host  # the computer
    versions: dict[str, str]  # of Tilescope, Python and packages, by name
    method: Method
    ceilings: Ceilings | None  # of the device
    rows: tuple[Row, ...]  # in the order of the request

    @property
    def origin(self) -> str:
        """The device and the date: NVIDIA H200, 2026-11-20."""
        return f"{self.device.name if self.device else self.host.processor}, {self.date[:10]}"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal["tilescope measurement"]  # FORMAT
    version: Literal[2]  # VERSION
    digest: str  # SHA-256 of `measurement`, in hexadecimal digits
    measurement: msgspec.Raw  # JSON of a Measurement


class _Head(msgspec.Struct, frozen=True):
    format: str
    version: int


def median(samples: tuple[float, ...]) -> float:
    """Return the median of at least one sample."""
    ordered, half = sorted(samples), len(samples) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(samples: tuple[float, ...], confidence: float = 0.95) -> tuple[float, float]:
    """Compute an interval that contains the median of the distribution with at least this confidence.

    Its ends are order statistics, so it assumes nothing about the distribution (David and Nagaraja, "Order
    Statistics", 2003, 7.1). With fewer than six samples it is the complete range, with less confidence.
    """
    ordered = sorted(samples)
    index = max(0, _rank(len(ordered), (1 - confidence) / 2) - 1)
    return ordered[index], ordered[-1 - index]


def _rank(count: int, tail: float) -> int:
    """Return the largest k with P(Binomial(count, 1/2) < k) <= tail, at least 0."""
    term, total, k = 0.5**count if count < 1000 else 0.0, 0.0, 0
    if not term:  # too small for exact terms; the normal approximation is good enough
        return max(0, math.floor((count + 1 - 1.96 * math.sqrt(count)) / 2))
    while total + term <= tail:
        total, k = total + term, k + 1
        term *= (count - k + 1) / k
    return k


def recorded_measurements() -> tuple[Path, ...]:
    """List the measurement files that ship with Tilescope, by name."""
    return tuple(sorted((ROOT / "resources" / "measurements").glob("*.json"), key=lambda path: path.stem))


def save(measurement: Measurement, path: str | Path) -> None:
    """Write a measurement atomically; raises MeasurementError."""
    content = msgspec.json.encode(measurement)
    file = _File(FORMAT, VERSION, _digest(content), msgspec.Raw(content))
    try:
        write_atomically(Path(path), msgspec.json.encode(file))
    except OSError as error:
        raise MeasurementError(f"{path} can't be written: {error.strerror or error}.") from error


def load(path: str | Path) -> Measurement:
    """Load the measurement of a file; raises MeasurementError for invalid files."""
    try:
        if Path(path).stat().st_size > LARGEST:
            raise MeasurementError(f"{path} is too large for a measurement file; choose another.")
        return decode(Path(path).read_bytes())
    except OSError as error:
        raise MeasurementError(f"{path} can't be read: {error.strerror or error}.") from error
    except _InvalidFileError as error:
        raise MeasurementError(
            f"{path} can't be opened: {error}; measure again or choose another file."
        ) from error


class _InvalidFileError(MeasurementError):
    """The content of a file is invalid; the text is a clause, not a sentence."""


# Created at import: threads that use a type for the first time at once can crash msgspec.
_HEAD, _FILE, _MEASUREMENT = (
    msgspec.json.Decoder(_Head),
    msgspec.json.Decoder(_File),
    msgspec.json.Decoder(Measurement),
)


def decode(content: bytes) -> Measurement:
    """Decode the content of a file; raises MeasurementError."""
    if not content.strip():
        raise _InvalidFileError("it is empty")
    try:
        head = _HEAD.decode(content)
        if head.format != FORMAT:
            raise _InvalidFileError("it is not a Tilescope measurement")
        if head.version != VERSION:
            raise _InvalidFileError(f"it has format {head.version}, this Tilescope reads {VERSION}")
        file = _FILE.decode(content)
        measurement = _MEASUREMENT.decode(file.measurement)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _InvalidFileError(f"it is not a complete measurement ({error})") from error
    _check(measurement)
    if file.digest != _digest(bytes(file.measurement)):
        raise _InvalidFileError("it was changed after it was measured")
    return measurement


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check(measurement: Measurement) -> None:
    if not measurement.rows:
        raise _InvalidFileError("it has no measured row")
    if measurement.ceilings and not _are_positive(measurement.ceilings.rates):
        raise _InvalidFileError("it has a ceiling that is not a positive number")
    for row in measurement.rows:
        _check_sizes(row)
        for timing in row.timings:
            if not timing.microseconds:
                raise _InvalidFileError(f"{row.title} has a timing without samples")
            if not _are_positive(timing.microseconds):
                raise _InvalidFileError(f"{row.title} has a time that is not a positive number")


def _check_sizes(row: Row) -> None:
    """Raise _InvalidFileError if no launch can have a row's sizes."""
    for names in SIZES:
        given = [row.parameters.get(name) for name in names]
        if any(value is not None for value in given) and not all(_is_count(value) for value in given):
            raise _InvalidFileError(f"{row.title} has no whole numbers above 0 as its {', '.join(names)}")
    counts = (*row.grid, *row.block, *(side for shape, _ in row.arrays.values() for side in shape))
    if not all(map(_is_count, counts)) or min(row.bytes, row.flop) < 0:
        raise _InvalidFileError(f"{row.title} has a size below 1")
    for _, dtype in row.arrays.values():
        if dtype not in DTYPES:
            raise _InvalidFileError(f"{row.title} has elements of type {dtype!r}")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 < value < 1 << 63


def _are_positive(numbers: Collection[float]) -> bool:
    return min(numbers, default=1.0) > 0 and math.isfinite(sum(numbers))

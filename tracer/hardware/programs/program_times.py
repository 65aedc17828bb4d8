"""The times of a CUDA C++ program's kernels on a GPU, over several runs of the program, and their file."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from ...model.launch import Dim3
from ...storage.atomic_write import write_atomically
from ..times.measurement import Device, MeasurementError, median, median_interval

MOST_RUNS: Final = 30
VARIABLE: Final = "TILESCOPE_TIMES"  # names the file of the records to the program
DRIVER: Final = Path("/proc/driver/nvidia/version")
# Of CUpti_ActivityMemcpyKind.
COPIES: Final = {1: "host to device", 2: "device to host", 8: "device to device", 10: "between devices"}


class _KernelRecord(msgspec.Struct, frozen=True, tag_field="record", tag="kernel"):
    name: str
    grid: Dim3
    block: Dim3
    registers: int
    local_bytes: int
    shared_bytes: int
    start: int  # nanoseconds
    end: int


class _CopyRecord(msgspec.Struct, frozen=True, tag_field="record", tag="copy"):
    kind: int
    bytes: int
    start: int  # nanoseconds
    end: int


class _DeviceRecord(msgspec.Struct, frozen=True, tag_field="record", tag="device"):
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    cuda: tuple[int, int]


class _Refused(msgspec.Struct, frozen=True, tag_field="record", tag="refused"):
    reason: str


_RECORD: msgspec.json.Decoder[_KernelRecord | _CopyRecord | _DeviceRecord | _Refused] = msgspec.json.Decoder(
    _KernelRecord | _CopyRecord | _DeviceRecord | _Refused
)


class KernelTimes(msgspec.Struct, frozen=True):
    """The times of all launches of a kernel with one grid and block."""

    name: str  # with its template arguments and parameters
    grid: Dim3  # in blocks
    block: Dim3  # in threads
    registers: int  # per thread
    local_bytes: int  # per thread, including spilled registers
    shared_bytes: int  # static and dynamic, per block
    launches: int  # in one run of the program
    microseconds: tuple[float, ...]  # of each launch in each run

    @property
    def median(self) -> float:
        """The median, in microseconds."""
        return median(self.microseconds)

    def interval(self) -> tuple[float, float]:
        """Compute the median's 95 % confidence interval, in microseconds."""
        return median_interval(self.microseconds)

    def is_of(self, name: str, grid: Dim3, block: Dim3) -> bool:
        """Return True for launches of a kernel by its name in the source, such as copy<float>."""
        return (base_name(self.name), self.grid, self.block) == (base_name(name), grid, block)


class CopyTimes(msgspec.Struct, frozen=True):
    """The times of all copies of one kind and size."""

    kind: str
    bytes: int
    copies: int  # in one run of the program
    microseconds: tuple[float, ...]


class ProgramTimes(msgspec.Struct, frozen=True):
    """The times of a program's kernels and copies. Everything is measured."""

    file: str
    arguments: tuple[str, ...]
    date: str  # ISO 8601, UTC
    device: Device
    runs: int  # of the program
    kernels: tuple[KernelTimes, ...]  # in the order of their first launches
    copies: tuple[CopyTimes, ...]
    status: int = 0  # exit status of the first run

    @property
    def origin(self) -> str:
        """The device and the date: NVIDIA H200, 2026-11-20."""
        return f"{self.device.name}, {self.date[:10]}"


class _File(msgspec.Struct, frozen=True):
    format: Literal["tilescope program times"]
    version: Literal[1]
    times: ProgramTimes


def base_name(name: str) -> str:
    """Return a kernel's name without its type, namespaces, template arguments and parameters."""
    kept: list[str] = []
    depth = 0
    for letter in name.partition("(anonymous namespace)::")[2] or name:
        depth += letter == "<"
        if letter == "(" and depth == 0 and kept:
            break
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">"
    return "".join(kept).strip().rpartition(" ")[2].rpartition("::")[2]


def time_program(
    program: Sequence[str],
    timer: Path,
    folder: Path,
    *,
    source: Path,
    date: str,
    time_limit: float,
    prints: bool = True,
    report: Callable[[str], None] = lambda text: None,
    settings: Mapping[str, str] | None = None,
) -> ProgramTimes:
    """Run a program until its time limit in seconds or MOST_RUNS, at least once, and return its times.

    program: its path and arguments. timer: see `build_timer`. folder: for the records. Only the first run reads
    input and, if it `prints`, prints. settings: more environment variables. Raises MeasurementError.
    """
    environment = dict(os.environ) | {"CUDA_INJECTION64_PATH": str(timer)} | dict(settings or {})
    began = time.monotonic()
    runs: list[list[_KernelRecord | _CopyRecord]] = []
    device: Device | None = None
    status = 0
    while len(runs) < MOST_RUNS:
        before = time.monotonic()
        report(f"run {len(runs) + 1}")
        file = folder / f"{len(runs)}.times"
        output = None if prints and not runs else subprocess.DEVNULL
        done = subprocess.run(
            program,
            env=environment | {VARIABLE: str(file)},
            stdin=subprocess.DEVNULL if runs else None,
            stdout=output,
            stderr=output,
        )
        records, device = _read(file, device)
        if not runs:
            status = done.returncode
        runs.append(records)
        now = time.monotonic()
        if status or now - began + (now - before) > time_limit:
            break
    if device is None:
        raise MeasurementError(_no_device(status))
    kernels, copies = _grouped(runs)
    if not kernels:
        raise MeasurementError(f"The program launched no kernel, and its exit status was {status}.")
    return ProgramTimes(str(source), tuple(program[1:]), date, device, len(runs), kernels, copies, status)


def _no_device(status: int) -> str:
    if status < 0:
        return f"The program was ended by signal {-status} before its times could be written."
    return f"The program used no GPU, or ended by _exit; its exit status was {status}."


def _read(file: Path, device: Device | None) -> tuple[list[_KernelRecord | _CopyRecord], Device | None]:
    """Read the records of a run, in the order of their starts, and the device; raises MeasurementError."""
    records: list[_KernelRecord | _CopyRecord] = []
    try:
        lines = file.read_bytes().splitlines()
        for line in lines:
            record = _RECORD.decode(line)
            if isinstance(record, _Refused):
                raise MeasurementError(f"CUPTI can't time kernels here: {record.reason}.")
            if isinstance(record, _DeviceRecord):
                device = _device(record)
            else:
                records.append(record)
    except FileNotFoundError:
        return [], device
    except (OSError, msgspec.MsgspecError) as error:
        raise MeasurementError(f"The times of the program can't be read: {error}.") from error
    return sorted(records, key=lambda record: record.start), device


def _device(record: _DeviceRecord) -> Device:
    driver = ""
    if DRIVER.is_file():
        words = DRIVER.read_text("utf-8", "replace").split()
        driver = next((word for word in words if word[:1].isdigit() and word.count(".") >= 1), "")
    return Device(
        name=record.name, compute_capability=record.compute_capability, multiprocessors=record.multiprocessors,
        memory_bytes=record.memory_bytes, l2_bytes=record.l2_bytes, driver=driver, cuda=record.cuda, clocks=None,
    )  # fmt: skip


def _grouped(
    runs: Iterable[Sequence[_KernelRecord | _CopyRecord]],
) -> tuple[tuple[KernelTimes, ...], tuple[CopyTimes, ...]]:
    """Group the records of all runs by kernel and size, in the order of the first run."""
    kernels: dict[tuple[str, Dim3, Dim3, int], list[_KernelRecord]] = {}
    copies: dict[tuple[str, int], list[_CopyRecord]] = {}
    count = 0
    for run in runs:
        count += 1
        for record in run:
            if isinstance(record, _KernelRecord):
                key = (record.name, record.grid, record.block, record.shared_bytes)
                kernels.setdefault(key, []).append(record)
            else:
                kind = COPIES.get(record.kind, "other")
                copies.setdefault((kind, record.bytes), []).append(record)
    return (
        tuple(
            KernelTimes(
                name, grid, block, group[0].registers, group[0].local_bytes, shared, -(-len(group) // count),
                tuple((r.end - r.start) / 1000 for r in group),
            )
            for (name, grid, block, shared), group in kernels.items()
        ),
        tuple(
            CopyTimes(kind, size, -(-len(group) // count), tuple((r.end - r.start) / 1000 for r in group))
            for (kind, size), group in copies.items()
        ),
    )  # fmt: skip


def save(times: ProgramTimes, path: Path) -> None:
    """Write the times atomically; raises MeasurementError."""
    try:
        write_atomically(path, msgspec.json.encode(_File("tilescope program times", 1, times)))
    except OSError as error:
        raise MeasurementError(f"{path} can't be written: {error.strerror or error}.") from error

"""Recording of profiles of the catalogue's kernels, with NVIDIA's profiler.

`python -m tilescope.tracer.hardware.profiling.profile_recording CACHES FILE` runs under the profiler: it launches each
case in FILE once for the profiler, and writes the list of these cases next to FILE.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from ....kernels.scenarios import catalogue
from ....kernels.scenarios.catalogue import Values
from ..times.cases import Case, cases_of, row_of
from ..times.client import case_spec
from ..times.gpu import Gpu, first_line, open_gpu
from ..times.measurement import MeasurementError, Row
from ..times.timed_calls import CudaCCall, NumbaCall, timed_call_of
from .profiles import CacheState, Profile

PROFILER: Final = ("ncu", "/usr/local/cuda/bin/ncu")  # the first that exists
# The metrics, by the field of a Profile.
METRICS: Final = {
    "dram_read": "dram__bytes_read.sum",
    "dram_written": "dram__bytes_write.sum",
    "l1_hits": "l1tex__t_sector_hit_rate.pct",
    "warps_active": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "nanoseconds": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
}
ASKED_OF_L1: Final = "l1tex__t_sectors.sum"  # if this is 0, there is no hit rate
# Sectors that L1 requested from L2: hits and misses. The profiler's own rate also counts hits of others, and exceeds
# 100 % in short launches.
L2_HAD: Final = "lts__t_sectors_srcunit_tex_lookup_hit.sum"
L2_HAD_NOT: Final = "lts__t_sectors_srcunit_tex_lookup_miss.sum"
OTHERS: Final = (ASKED_OF_L1, L2_HAD, L2_HAD_NOT)
CONTROL: Final[dict[CacheState, str]] = {"warm": "none", "cold": "all"}  # what the profiler does with caches
UNITS: Final = {  # all other metrics have no unit
    "byte": 1.0, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9,
    "ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9,
}  # fmt: skip
SIDES: Final = ("m", "k", "n", "rows", "cols")  # parameters
MIDDLE: Final = 1024  # side of the matrices in charts that compare kernels
LONGEST: Final = 500.0  # seconds


def cases_to_profile() -> list[Case]:
    """List the cases of each measured kernel: its lesson's own, the largest, and for matrices one of middle size."""
    cases = [case for case in cases_of([]) if case.needs_device and not case.baseline]
    chosen: list[Case] = []
    for name, group in groupby(cases, lambda case: case.scenario):
        kernel_cases, scenario = list(group), catalogue.find(name)
        # A pitfall's own case may fail; a measured one does not.
        own = kernel_cases[0] if scenario.pitfall else Case(name, catalogue.settle(scenario, {}))
        middle = [case for case in kernel_cases if _is_middle(case.values)]
        like_own = [case for case in middle if _shape(case.values) == _shape(own.values)]
        largest = max(kernel_cases, key=lambda case: _size(row_of(case)))
        wanted = [*(like_own or middle), largest]
        chosen += [own, *(case for case in kernel_cases if case in wanted and case != own)]
    return chosen


def _size(row: Row) -> tuple[int, int]:
    return row.flop, row.bytes


def _is_middle(values: Values) -> bool:
    """Return True for matrices with this length on all sides."""
    sides = [value for name, value in values.items() if name in SIDES]
    return bool(sides) and all(side == MIDDLE for side in sides)


def _shape(values: Values) -> Values:
    """Return all values except sides: shapes of blocks, types, inputs."""
    return {name: value for name, value in values.items() if name not in SIDES}


def find_profiler() -> tuple[str, str]:
    """Return the path of Nsight Compute's ncu and its version ("" if unknown); raises MeasurementError without it."""
    path = next((program for name in PROFILER if (program := shutil.which(name))), None)
    if path is None:
        raise MeasurementError("Nsight Compute's ncu is missing; install it, or add its folder to PATH.")
    output = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return path, next((line.split()[1] for line in output.splitlines() if line.startswith("Version ")), "")


def profile_cases(path: str, cases: Sequence[Case], caches: CacheState) -> list[Profile]:
    """Profile cases with the profiler at this path; raises MeasurementError if that fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cases.json").write_bytes(msgspec.json.encode(list(cases)))
        program = [sys.executable, "-m", __spec__.name, caches, str(folder / "cases.json")]
        metrics = ",".join((*METRICS.values(), *OTHERS))
        options = [
            "--clock-control",
            "none",
            "--cache-control",
            CONTROL[caches],
            "--profile-from-start",
            "off",
        ]
        output = ["--csv", "--page", "raw", "--print-units", "base", "--log-file", str(folder / "log.csv")]
        command = [path, *options, "--metrics", metrics, *output, *program]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
            launched = msgspec.json.decode((folder / "launched.json").read_bytes(), type=list[Case])
            log = (folder / "log.csv").read_text(encoding="utf-8")
        except (OSError, subprocess.SubprocessError, msgspec.MsgspecError) as error:
            raise MeasurementError(f"The profiler could not be run ({error}).") from error
    rows = rows_of_log(log)
    if len(rows) != len(launched):
        last = (done.stderr or done.stdout or log).strip().splitlines()[-1:]
        reason = f"; it says: {last[0]}" if last else ""
        raise MeasurementError(f"The profiler counted {len(rows)} launches of {len(launched)}{reason}")
    return [profile_of_row(case, caches, row) for case, row in zip(launched, rows, strict=True)]


def rows_of_log(log: str) -> list[dict[str, float | None]]:
    """Read the metrics of each launch from the profiler's CSV, in base units; None if a value is not a number."""
    lines = log.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    table = list(csv.DictReader(io.StringIO("\n".join(lines[first:]))))
    if not table:
        return []
    units, *launches = table
    return [{name: _value(row.get(name), units[name]) for name in units if "__" in name} for row in launches]


def _value(text: str | None, unit: str) -> float | None:
    try:
        number = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return number * UNITS.get(unit.lower(), 1.0) if number == number else None


def profile_of_row(case: Case, caches: CacheState, row: dict[str, float | None]) -> Profile:
    """Build the profile of a launch from its metrics; raises MeasurementError if one is missing."""
    fields = {field: row.get(metric) for field, metric in METRICS.items()}
    if not row.get(ASKED_OF_L1):
        fields["l1_hits"] = None
    missing = [METRICS[f] for f, value in fields.items() if value is None and f != "l1_hits"]
    if missing:
        raise MeasurementError(f"The profiler did not count {', '.join(missing)} of {case.scenario}.")
    fields["registers"] = int(fields["registers"] or 0)
    fields["l2_hits"] = _share(row.get(L2_HAD), row.get(L2_HAD_NOT))
    return msgspec.convert(
        {"scenario": case.scenario, "parameters": case.values, "caches": caches, **fields}, Profile
    )


def _share(hits: float | None, misses: float | None) -> float | None:
    """Return the hits in per cent of all requests; None without requests or if they are unknown."""
    if hits is None or misses is None or not hits + misses:
        return None
    return round(100 * hits / (hits + misses), 2)


# The program that runs under the profiler.


def main() -> None:
    """Launch each case once for the profiler; warm caches need two launches before."""
    caches, path = sys.argv[1], Path(sys.argv[2])
    gpu, launched = open_gpu(), []
    for case in msgspec.json.decode(path.read_bytes(), type=list[Case]):
        try:
            _launch(case, gpu, 2 if caches == "warm" else 0)
        except Exception as error:  # noqa: BLE001  # the other cases are still profiled
            print(f"left out: {case_spec(case)} ({first_line(error)})", file=sys.stderr)
        else:
            launched.append(case)
    path.with_name("launched.json").write_bytes(msgspec.json.encode(launched))


def _launch(case: Case, gpu: Gpu, before: int) -> None:
    """Launch a case once for the profiler, after `before` launches without it."""
    call = timed_call_of(case, gpu)
    assert isinstance(call, NumbaCall | CudaCCall), "cases run on the device"
    for _ in range(before):
        call.enqueue()
    gpu.synchronize()
    gpu.cuda.profile_start()
    try:
        call.enqueue()
        gpu.synchronize()
    finally:
        gpu.cuda.profile_stop()


if __name__ == "__main__":
    main()

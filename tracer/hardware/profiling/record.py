"""Recording of the package's data about kernels on one GPU; the window and the commands only read them.

`python -m tilescope.tracer.hardware.profiling.record [FOLDER]` compiles every kernel of the catalogue for the GPU and
writes their resources (kernels.json). It asks the driver how many blocks fit on a multiprocessor
(h200_occupancy.json, for tests), and lets Nsight Compute count what the launches do (profiles.json). `--ptxas FILE`
only writes the first file, with NVIDIA's compilers, on a machine without a GPU.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, get_args

import msgspec

from .... import ROOT
from ....kernels.scenarios.catalogue import find
from ...model.plan import launch_of
from ...storage.atomic_write import write_atomically
from ..occupancy import Capability, occupancy
from ..times.cases import Case
from ..times.client import case_spec, revision, versions
from ..times.gpu import Gpu, first_line, open_gpu
from ..times.measurement import Device, MeasurementError, Row, TimingKind, load, recorded_measurements
from ..times.traffic import row_key
from . import profiles, recorded_kernels
from .kernel_recording import (
    DriverAnswer,
    Loaded,
    UnresolvedError,
    assembled_case,
    cases_to_compile,
    compiled_case,
    driver_answers,
    loaded_case,
)
from .profile_recording import METRICS, OTHERS, cases_to_profile, find_profiler, profile_cases
from .profiles import CacheState, Profile, Profiles
from .recorded_kernels import CompiledKernel, CompiledKernels, occupancy_of

HOPPER: Final[Capability] = (9, 0)  # the target without a GPU: that of the recorded measurements
ANSWERS: Final = "h200_occupancy.json"
KEPT: Final = 17  # one of so many answers of the sweep is kept


class DriverAnswers(msgspec.Struct, frozen=True):
    """A driver's answers: how many blocks fit on a multiprocessor, by the resources of kernels."""

    device: str
    capability: Capability
    driver: str  # its version
    date: str  # ISO 8601, UTC
    asked: int  # number of questions
    differing: int  # answers that differ from the model
    answers: tuple[DriverAnswer, ...]  # for the catalogue, a part of the others, and all that differ


def main() -> int:
    """Record the data; print a sentence and return 2 if that fails."""
    chosen = _arguments()
    os.environ.update(NUMBA_ENABLE_CUDASIM="0", NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="0")
    try:
        _record_by_compilers(chosen) if chosen.ptxas else _record(chosen.folder)
    except MeasurementError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m tilescope.tracer.hardware.profiling.record")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "resources", help="folder of the files"
    )
    parser.add_argument("--ptxas", metavar="FILE", help="only compile, with this assembler")
    return parser.parse_args()


def _record(folder: Path) -> None:
    gpu = open_gpu()
    device, loaded = gpu.describe(), list(_loaded(gpu))
    how = f"Read from the driver ({device.driver or 'of unknown version'}); {_compilers()}."
    kernels = [compiled_case(case, kernel) for case, kernel in loaded]
    _write(folder / recorded_kernels.FILE, _kernels(device.name, device.compute_capability, how, kernels))
    _write(folder / ANSWERS, _answers(gpu, device, loaded))
    _record_profiles(folder, device)


def _loaded(gpu: Gpu) -> Iterator[tuple[Case, Loaded]]:
    """Yield all kernels, compiled and loaded; print those that can't be."""
    for case in cases_to_compile():
        try:
            yield case, loaded_case(case, gpu)
        except Exception as error:  # noqa: BLE001  # the other kernels are still recorded
            print(f"left out: {case_spec(case)} ({first_line(error)})")


def _record_profiles(folder: Path, device: Device) -> None:
    (path, version), collected = find_profiler(), list[Profile]()
    how = f"Nsight Compute {version}, clocks left as they are: {', '.join((*METRICS.values(), *OTHERS))}."
    cases = cases_to_profile()
    for caches in get_args(CacheState):
        collected += profile_cases(path, cases, caches)
        print(f"{sum(p.caches == caches for p in collected)} of {len(cases)} launches with {caches} caches")
        _write(folder / profiles.FILE, Profiles(device, how, _now(), revision(), tuple(collected)))
    measured = [row for path in recorded_measurements() for row in load(path).rows if not row.baseline]
    print("\n".join(_compared(profile, measured) for profile in collected))


def _compared(profile: Profile, measured: list[Row]) -> str:
    """Compare a profile with the time without a profiler and with the model."""
    kind: TimingKind = "kernel-cold" if profile.caches == "cold" else "kernel-warm"
    key = row_key(profile.scenario, profile.parameters)
    rows = [row for row in measured if row_key(row.scenario, row.parameters) == key]
    timing = next((t for row in rows if (t := row.timing(kind))), None)
    room = occupancy_of(launch_of(find(profile.scenario), profile.parameters))
    return (
        f"{profile.scenario} {profile.parameters} {profile.caches}: {profile.nanoseconds / 1000:,.2f} us, "
        f"{timing.median if timing else 0:,.2f} us measured; occupancy {profile.occupancy:.1f} %, "
        f"{100 * room.occupancy.share if room else 0:.1f} % modelled, {profile.warps_active:.1f} % active; "
        f"{profile.registers} registers; DRAM {profile.dram_bytes:,.0f}, hits {profile.l1_hits}, {profile.l2_hits}"
    )


def _answers(gpu: Gpu, device: Device, loaded: list[tuple[Case, Loaded]]) -> DriverAnswers:
    """Return the driver's answers, and print how many differ from the model."""
    answers = list(driver_answers(gpu, loaded))
    differing = [
        answer for answer in answers if _modelled(device.compute_capability, answer) != answer.blocks
    ]
    print(
        f"{len(answers):,} answers of the driver, {len(differing):,} differ from the model: {differing[:20]}"
    )
    kept = dict.fromkeys([*answers[: len(loaded)], *answers[len(loaded) :: KEPT], *differing])
    counts = len(answers), len(differing)
    return DriverAnswers(device.name, device.compute_capability, device.driver, _now(), *counts, tuple(kept))


def _modelled(capability: Capability, answer: DriverAnswer) -> int | None:
    shared = answer.static_bytes + answer.dynamic_bytes
    modelled = occupancy(capability, answer.registers, shared, answer.threads)
    return modelled.blocks if modelled else None


def _record_by_compilers(chosen: Namespace) -> None:
    if shutil.which(chosen.ptxas) is None:
        raise MeasurementError(f"There is no assembler {chosen.ptxas}; name the ptxas of a CUDA Toolkit.")
    kernels = []
    for case in cases_to_compile():
        try:
            kernels.append(compiled_case(case, assembled_case(case, chosen.ptxas, HOPPER)))
        except UnresolvedError as error:
            print(f"left out: {case_spec(case)} ({error})")
        except (ImportError, RuntimeError) as error:  # NVVM or NVRTC is missing
            raise MeasurementError(f"No kernel can be compiled ({first_line(error)}).") from error
    how = f"Reported by NVIDIA's assembler without a GPU; {_compilers()}."
    _write(chosen.folder / recorded_kernels.FILE, _kernels("compute capability 9.0", HOPPER, how, kernels))


def _compilers() -> str:
    installed = versions()
    names = ("numba", "numba-cuda", "nvidia-cuda-nvrtc")
    return "compiled with " + ", ".join(f"{name} {installed.get(name, 'unknown')}" for name in names)


def _kernels(
    device: str, capability: Capability, how: str, kernels: Iterable[CompiledKernel]
) -> CompiledKernels:
    return CompiledKernels(device, capability, how, _now(), revision(), tuple(kernels))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write(path: Path, content: object) -> None:
    text = msgspec.json.format(msgspec.json.encode(content), indent=1)
    try:
        write_atomically(path, text + b"\n")
    except OSError as error:
        raise MeasurementError(f"{path} can't be written: {error.strerror or error}.") from error
    print(f"{path}: {len(text):,} bytes", flush=True)


if __name__ == "__main__":
    sys.exit(main())

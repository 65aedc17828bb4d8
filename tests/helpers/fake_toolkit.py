"""A CUDA toolkit of shell scripts: its programs write the records that a program on a GPU would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tilescope.tracer.hardware.marks.decoding import WRITTEN_ROW
from tilescope.tracer.hardware.programs.program_timeline import PAIRS

MULTIPROCESSORS, STEP_NS, MHZ = 4, 32, 1000
DEVICE = {
    "record": "device", "name": "NVIDIA H100", "compute_capability": [9, 0], "multiprocessors": MULTIPROCESSORS,
    "memory_bytes": 1 << 30, "l2_bytes": 1 << 20, "cuda": [13, 0],
}  # fmt: skip
NVCC = """#!/bin/sh
echo "$@" >> "{log}"
case "$*" in *{broken}*) echo "$2(3): error: expected a ';'" >&2; exit 2;; esac
while [ "$1" != -o ]; do shift; done
cp "{program}" "$2" && chmod +x "$2"
"""


def kernel_record(name: str, start: int, end: int, **changes: Any) -> dict[str, Any]:
    """Return the record of a kernel of two blocks of 64 threads, whose times are nanoseconds."""
    return {
        "record": "kernel", "name": name, "grid": [2, 1, 1], "block": [64, 1, 1], "registers": 16,
        "local_bytes": 0, "shared_bytes": 256, "start": start, "end": end,
    } | changes  # fmt: skip


def copy_record(kind: int, size: int, start: int, end: int) -> dict[str, Any]:
    """Return the record of a copy."""
    return {"record": "copy", "kind": kind, "bytes": size, "start": start, "end": end}


def clocks_file(kernel: str, file: Path, line: int) -> bytes:
    """Build the output of a program with marks: a launch of two blocks of 64 threads.

    Clocks count nanoseconds. Block 0 runs on multiprocessor 1 from 2,000 to 5,000, block 1 on 3 from 2,500 to 4,000.
    """
    head = {
        "kernel": kernel, "file": str(file), "line": line, "grid": [2, 1, 1], "block": [64, 1, 1], "dynamic_bytes": 0,
    }  # fmt: skip
    pairs = np.zeros((2, *PAIRS), np.uint64)
    for place, first in enumerate((1_000, 10_000)):
        times = first + STEP_NS * np.arange(PAIRS[1])
        pairs[place, :MULTIPROCESSORS] = np.stack([times, times], axis=1)
    rows = np.zeros((2, 2), WRITTEN_ROW)
    rows["start"], rows["end"] = [[2_000, 2_010], [2_500, 2_510]], [[4_900, 5_000], [4_000, 3_990]]
    rows["multiprocessor"], rows["at"] = [[1, 1], [3, 3]], [[0, 1], [2, 3]]
    return json.dumps(head).encode() + b"\n" + pairs.tobytes() + rows.tobytes()


def fake_toolkit(folder: Path, records: list[dict[str, Any]], clocks: bytes = b"", program: str = "") -> Path:
    """Create a toolkit in a folder and return its root, for CUDA_HOME.

    Each program that its nvcc compiles writes these records, and these clocks if it is asked for clocks; then it runs
    the lines of `program`. A file whose name contains "broken" does not compile.
    """
    root = folder / "cuda"
    for name in ("bin", "extras/CUPTI/include", "extras/CUPTI/lib64"):
        (root / name).mkdir(parents=True)
    (root / "extras/CUPTI/include/cupti.h").write_text("")
    header = "} CUpti_ActivityKernel9;\n} CUpti_ActivityKernel10;\n} CUpti_ActivityMemcpy;\n} CUpti_ActivityMemcpy6;\n"
    (root / "extras/CUPTI/include/cupti_activity.h").write_text(header)
    (root / "extras/CUPTI/lib64/libcupti.so").write_text("")
    (root / "records").write_text("".join(json.dumps(record) + "\n" for record in records))
    (root / "clocks").write_bytes(clocks)
    (root / "program").write_text(
        f'#!/bin/sh\ncat "{root}/records" >> "$TILESCOPE_TIMES"\n'
        f'[ -n "$TILESCOPE_CLOCKS" ] && cp "{root}/clocks" "$TILESCOPE_CLOCKS/0.clocks"\n{program}\n'
    )
    nvcc = root / "bin" / "nvcc"
    nvcc.write_text(NVCC.format(log=root / "log", program=root / "program", broken="broken"))
    nvcc.chmod(0o755)
    return root

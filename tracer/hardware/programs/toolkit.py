"""The CUDA toolkit on this computer: its compiler and CUPTI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ..times.measurement import MeasurementError

HERE = Path(__file__).parent
OPTIONS = ("-O3", "-lineinfo", "-std=c++17", "--extended-lambda", "-arch=native", "-w")
# The library to link for a header that a program includes.
LIBRARIES = {
    "cublas": "cublas",
    "cublasLt": "cublasLt",
    "cufft": "cufft",
    "curand": "curand",
    "cusolver": "cusolver",
    "cusparse": "cusparse",
    "nvrtc": "nvrtc",
    "cuda": "cuda",
}
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([A-Za-z]+)(?:_v2|Dn|Sp|Xt)?\.h[>\"]", re.MULTILINE)
_RECORDS = {"KERNEL": "CUpti_ActivityKernel", "COPY": "CUpti_ActivityMemcpy"}


class Toolkit(Struct, frozen=True):
    """The CUDA toolkit: the compiler and where CUPTI is."""

    nvcc: str
    cupti_headers: Path
    cupti_libraries: Path


def find_toolkit() -> Toolkit:
    """Find nvcc and CUPTI; raises MeasurementError."""
    nvcc = next((path for path in _compilers() if path and Path(path).is_file()), None)
    if nvcc is None:
        raise MeasurementError(
            "To time a CUDA C++ program, nvcc of the CUDA toolkit is needed; it is neither in CUDA_HOME nor on the "
            "PATH nor in /usr/local/cuda."
        )
    root = Path(nvcc).resolve().parent.parent
    for folder in (root / "extras" / "CUPTI", root, *sorted(root.glob("targets/*"))):
        libraries = next(
            (folder / name for name in ("lib64", "lib") if any((folder / name).glob("libcupti.so*"))), None
        )
        if libraries and (folder / "include" / "cupti.h").is_file():
            return Toolkit(nvcc, folder / "include", libraries)
    raise MeasurementError(
        f"The CUDA toolkit in {root} lacks CUPTI, which times kernels; install cuda-cupti-dev."
    )


def _compilers() -> Iterator[str | None]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        home = os.environ.get(variable)
        yield str(Path(home, "bin", "nvcc")) if home else None
    yield shutil.which("nvcc")
    yield "/usr/local/cuda/bin/nvcc"


def build_timer(toolkit: Toolkit, folder: Path) -> Path:
    """Compile the library that times kernels into a folder; return its path. Raises MeasurementError."""
    library = folder / "kernel_times.so"
    headers = toolkit.cupti_headers
    text = "".join(path.read_text("utf-8", "replace") for path in headers.glob("cupti_activity*.h"))
    records = [f"-DTILESCOPE_{name}_RECORD={_newest(prefix, text)}" for name, prefix in _RECORDS.items()]
    compile_cuda(
        toolkit,
        [
            "-shared", "-Xcompiler", "-fPIC", "-I", str(headers), "-L", str(toolkit.cupti_libraries), "-lcupti",
            "-lcuda", "-Xlinker", f"-rpath={toolkit.cupti_libraries}", *records, str(HERE / "kernel_times.cpp"),
        ],
        library,
    )  # fmt: skip
    return library


def _newest(prefix: str, text: str) -> str:
    """Return the name with the largest number at its end; CUPTI adds fields at the end of such structures."""
    numbers = [int(number or 0) for number in re.findall(rf"\b{prefix}(\d*)\b", text)]
    newest = max(numbers, default=0)
    return f"{prefix}{newest or ''}"


def build_program(
    toolkit: Toolkit, source: Path, texts: Sequence[str], folders: Sequence[Path], target: Path
) -> None:
    """Compile a program with its own text; raises MeasurementError with the compiler's first message.

    texts: of its files, whose includes name the libraries to link. folders: searched for its includes.
    """
    names = {LIBRARIES[name] for text in texts for name in _INCLUDE.findall(text) if name in LIBRARIES}
    includes = [word for folder in folders for word in ("-I", str(folder))]
    compile_cuda(
        toolkit, [*OPTIONS, *includes, str(source), *(f"-l{name}" for name in sorted(names))], target
    )


def compile_cuda(toolkit: Toolkit, words: Sequence[str], target: Path) -> None:
    """Run nvcc; raises MeasurementError with its first message."""
    done = subprocess.run(
        [toolkit.nvcc, *words, "-o", str(target)], capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
        raise MeasurementError(f"nvcc can't compile the program: {first.strip()}")

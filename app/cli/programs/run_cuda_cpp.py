"""`tilescope run` and `tilescope check` for CUDA C++: compile a file, run it, and take the trace of each launch."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..common.arguments import UsageError
from ..common.text_output import print_error
from ..reports.report import FindingData
from ..reports.text import text_line
from .findings_output import FindingCollector, data_of_fault, fault_data
from .program_to_run import ProgramToRun

if TYPE_CHECKING:
    from ....tracer.cuda_cpp.session import ProgramEnd, ProgramFault, SessionOptions
    from ....tracer.model.trace import Dim3, Trace

INTERRUPTED = 130  # the exit status after Ctrl+C


class CudaProgram:
    """A CUDA C++ program that is to be run, and the faults that no trace shows."""

    def __init__(self, chosen: Namespace, take: Callable[[Trace, float], None]) -> None:
        """take: called with the trace and seconds of each launch."""
        self._chosen, self._take = chosen, take
        self.faults: list[FindingData] = []

    def run(self) -> int:
        """Compile and run the program; return its exit status, or 2 if it can't be compiled."""
        from ....tracer.cuda_cpp.build import BuildError, build
        from ....tracer.cuda_cpp.compilers import CompilerError
        from ....tracer.cuda_cpp.session import Session

        program: ProgramToRun = self._chosen.program
        if program.is_command:
            return self._run_command([program.name, *program.arguments])
        path = Path(program.name).absolute()
        try:
            text = Path(program.text).read_text("utf-8", "surrogatepass") if program.text else None
            built = build(path, text=text)
        except (CompilerError, OSError) as error:
            print_error(str(error))
            return 2
        except BuildError as error:
            _add_once(
                self.faults,
                fault_data("compile", "error", error.file or str(path), error.line or 1, str(error)),
            )
            return 2
        session = Session(
            _options(self._chosen),
            self._take,
            lambda _: (built.sources.texts, built.compiler.version),
        )
        try:
            end = session.run([str(built.path), *program.arguments])
        finally:
            session.close()
        return self._judge(end, path)

    def _run_command(self, words: list[str]) -> int:
        """Run a command that builds programs with nvcc and runs them; our stand-in for nvcc comes first on its PATH."""
        from ....tracer.cuda_cpp.compilers import CompilerError, find_compiler
        from ....tracer.cuda_cpp.nvcc import write_script
        from ....tracer.cuda_cpp.session import Session

        try:
            version = find_compiler().version
        except CompilerError as error:
            print_error(str(error))
            return 2
        session = Session(_options(self._chosen), self._take, lambda _: (None, version))
        try:
            with TemporaryDirectory(prefix="tilescope-nvcc-") as folder:
                script = write_script(Path(folder))
                path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
                settings = {"PATH": path, "NVCC": str(script), "CUDACXX": str(script)}
                end = session.run(words, os.environ | settings)
        finally:
            session.close()
        return self._judge(end, Path(words[0]))

    def _judge(self, end: ProgramEnd, path: Path) -> int:
        for fault in end.faults:
            note_fault(self.faults, fault, str(path))
        if end.was_interrupted:
            return INTERRUPTED
        return end.status if end.status >= 0 else 128 - end.status


def note_fault(faults: list[FindingData], fault: ProgramFault, file: str = "") -> None:
    """Add a fault of a program to a list, once; file: that of faults without one."""
    _add_once(faults, data_of_fault(fault, file))


def _add_once(faults: list[FindingData], data: FindingData) -> None:
    if data not in faults:
        faults.append(data)


def is_cuda_cpp_program(program: ProgramToRun) -> bool:
    """Return True for a program in CUDA C++."""
    from ....tracer.model.launch import is_cuda_cpp

    return program.is_command or (
        not program.is_module and is_cuda_cpp(program.name) and Path(program.name).is_file()
    )


def check_options(chosen: Namespace) -> None:
    """Raise UsageError for options that only Numba's programs have."""
    if chosen.blocks not in (None, "all"):
        raise UsageError("--blocks is for Numba's kernels; a CUDA C++ program runs all blocks.")
    if chosen.engine == "simulator":
        raise UsageError("--engine simulator is for Numba's kernels; CUDA C++ is compiled.")


def report_faults(faults: list[FindingData]) -> None:
    """Print faults that no trace shows to standard error, with file and line."""
    folder = Path.cwd()
    for fault in faults:
        path = Path(fault["file"])
        name = str(path.relative_to(folder)) if path.is_relative_to(folder) else fault["file"]
        print_error(text_line(fault | {"file": name}))


def collect_faults(collector: FindingCollector, faults: list[FindingData]) -> None:
    """Add faults that no trace shows to the findings of `tilescope check`."""
    for fault in faults:
        collector.add_fault(fault)


def _options(chosen: Namespace) -> SessionOptions:
    from ....tracer.cuda_cpp.session import SessionOptions
    from ....tracer.model.launch import Schedule
    from ....tracer.run.launch_size import choose_sample_blocks, is_too_large, sampling_notice

    noted: set[str] = set()  # kernels with a notice

    def sample(kernel: str, grid: Dim3, block: Dim3) -> int:
        if chosen.blocks == "all" or not is_too_large(grid, block):
            return 0
        count = len(choose_sample_blocks(grid, block))
        if kernel not in noted:
            noted.add(kernel)
            print_error(sampling_notice(kernel, grid, count))
        return count

    return SessionOptions(
        Schedule(chosen.schedule, chosen.seed), chosen.resident, chosen.patience, sample=sample
    )

"""`tilescope run` and `tilescope check`: run a user's program, and report its memory accesses."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ....tracer.processes.supervised import continue_in_child
from ....tracer.run.long_launch import CHECK_PATIENCE, MEMORY_A_SECOND, RUN_PATIENCE
from ....tracer.run.original_builtins import original_builtins
from ..common.arguments import Parser, UsageError, blocks_or_all, positive_integer, positive_seconds
from ..common.text_output import note_if_slow, print_error, print_lines
from ..reports.report import FindingData, split_cells
from .behind_program import BackgroundWriter
from .check_settings import (
    CheckSettings,
    add_report_arguments,
    configuration_here,
    settings_of,
    with_limits,
)
from .check_verdict import CrashReport, Verdict, reporting_at_os_exit
from .compiled_launches import CheckedLaunches, CompiledLaunches, compiled_data
from .findings_output import (
    Caller,
    CompilerFindings,
    EnginesUsed,
    FindingCollector,
    OutsideReport,
    RemedyTrials,
    caller_of,
    sort_findings,
    summary,
    with_trial_end,
    without_internal_keys,
)
from .forked_launches import ForkedLaunches, record_here
from .program_to_run import ProgramToRun
from .run_as_main import INTERRUPTED, full_path
from .run_cuda_cpp import (
    CudaProgram,
    check_options,
    collect_faults,
    is_cuda_cpp_program,
    note_fault,
    report_faults,
)
from .where import write_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....tracer.cuda_cpp.session import ProgramFault
    from ....tracer.model.launch import Launch
    from ....tracer.model.trace import Trace
    from ....tracer.run.program_hook import RecordingOptions
    from ....tracer.type_inference.question import Refusal

MAX_IMMEDIATE_BYTES = 1 << 18  # traces up to this size are saved faster than queued
STANDARD_OUTPUT = "-"  # instead of a file
SLOW_CHECK = (
    "running {name} and tracing its kernels; a kernel's first check takes longer, since it is compiled."
)
SLOW_PROJECT = "checking the programs; a kernel's first check takes longer, since it is compiled."


def _add_arguments(parser: Parser, description: str, command: str) -> None:
    """Add the arguments of both `run` and `check`."""
    patience = CHECK_PATIENCE if command == "check" else RUN_PATIENCE
    more = " ..." if command == "check" else ""
    usage = (
        "{0} [OPTIONS] SCRIPT | NOTEBOOK | FILE.cu{1} [-- ARGUMENTS ...]\n       {0} [OPTIONS] -m MODULE ...\n"
        "       {0} [OPTIONS] -- make ..."
    )
    parser.usage = usage.format(parser.prog, more)
    parser.description = description
    parser.add_argument(
        "--engine",
        choices=("compiled", "simulator"),
        help="the engine for the kernels; default: compiled code if a kernel makes many accesses",
    )
    parser.add_argument("--schedule", choices=("lockstep", "sequential", "random"), default="lockstep")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the random schedule")
    parser.add_argument(
        "--resident", type=positive_integer, metavar="N", help="the number of blocks that run at once"
    )
    parser.add_argument(
        "--blocks",
        type=blocks_or_all,
        metavar="0,5",
        help="run only these blocks; all: never sample, however large the launch",
    )
    parser.add_argument(
        "--patience",
        type=positive_seconds,
        metavar="SECONDS",
        help=f"the CPU time after which a block counts as endless ({patience:g}); "
        f"it may use {MEMORY_A_SECOND // 10**6} MB of memory for each second",
    )
    parser.add_argument(
        "--stop-at-errors",
        action="store_true",
        help="raise IndexError after a launch with an access outside an array; a GPU would continue",
    )


def _options(chosen: Namespace) -> RecordingOptions:
    from ....tracer.model.launch import Schedule
    from ....tracer.run.program_hook import RecordingOptions

    schedule = Schedule(chosen.schedule, chosen.seed)
    every_block = chosen.blocks == "all"
    blocks = None if every_block else chosen.blocks
    return RecordingOptions(
        schedule,
        chosen.resident,
        blocks,
        engine=chosen.engine,
        every_block=every_block,
        patience=chosen.patience,
        notify=_reporter(sys.stderr),
        stop_at_errors=chosen.stop_at_errors,
    )


def _reporter(stream: TextIO | None) -> Callable[[str], None]:
    """Return a function that prints a message at once, on the standard error from before the program."""

    def report(sentence: str) -> None:
        with suppress(OSError, ValueError):  # there is no reader, or the program has closed it
            print_error(sentence, stream)

    return report


def add_run_arguments(parser: Parser) -> None:
    _add_arguments(
        parser,
        "Run a program as python would, a notebook cell by cell, or a CUDA C++ file, and trace every kernel that "
        "it launches.",
        "run",
    )
    parser.add_argument("--out", default="tilescope-traces", metavar="DIR", help="the folder for the traces")
    parser.add_argument(
        "--json", metavar="FILE", help="write one line of JSON for each launch; - prints them at the end"
    )
    parser.add_argument("--quiet", action="store_true", help="save no traces")
    parser.add_argument("--text", metavar="FILE", help="a text that runs instead of the script's own")
    parser.add_argument(
        "--where", metavar="FILE", help="write the running line of the script, twice a second"
    )
    parser.add_argument("--open", action="store_true", help="open the window on the first trace at the end")


def execute_run(chosen: Namespace) -> int:
    """Run a program under the tracer and save the trace of every launch; return the program's exit status."""
    chosen.patience = chosen.patience or RUN_PATIENCE
    program: ProgramToRun = chosen.program._replace(text=chosen.text or "")
    program.find()
    saver = LaunchSaver(None if chosen.quiet else Path(chosen.out), chosen.json)
    if is_cuda_cpp_program(program):
        chosen.program = program
        return _run_cuda_cpp(chosen, saver)
    faults: list[FindingData] = []
    options_of_run = _options(chosen)._replace(on_fault=lambda fault: note_fault(faults, fault))
    if chosen.json:
        options_of_run = options_of_run._replace(before_launch=saver.note_launch, launched=saver.begin_launch)
    forked = record_here(options_of_run, saver.save_launch)
    own = os.getpid()
    if chosen.where:
        write_where(Path(chosen.where).absolute(), full_path(program.name))
    try:
        with saver.behind.finished_before_leaving():
            status = program.run()
        with original_builtins():
            saver.behind.finish()
        return status or (2 if saver.lost else 0)
    finally:
        if os.getpid() == own:  # else a child that the program forked
            with original_builtins():
                saver.close()
                report_faults(faults)
                forked.report()
                if chosen.open and saver.saved:
                    _open_window(saver.saved[0])


def _run_cuda_cpp(chosen: Namespace, saver: LaunchSaver) -> int:
    """Run a CUDA C++ program and save the trace of every launch; return its exit status."""
    check_options(chosen)
    program = CudaProgram(chosen, saver.save_launch)
    try:
        status = program.run()
    finally:
        saver.close()
    report_faults(program.faults)
    if chosen.open and saver.saved:
        _open_window(saver.saved[0])
    return status or (2 if saver.lost else 0)


def _open_window(trace: Path) -> None:
    import subprocess

    # A separate process, because the window must not import numba.
    subprocess.Popen([sys.executable, "-P", "-m", "tilescope", str(trace)])


class LaunchSaver:
    """Saves the trace of each completed launch in a folder, and its line in a JSON file.

    Large traces are saved in the background. The files and their order stay the same.
    """

    def __init__(self, folder: Path | None, lines: str | None) -> None:
        # The program may change the working directory, and a notebook does.
        self.folder = None if folder is None else folder.absolute()
        self._named = folder
        self.saved: list[Path] = []
        self.count = 0
        self.lost = 0  # traces and lines that could not be written
        self.compiler = CompilerFindings()
        self._compiled = CompiledLaunches()
        self._blocks: tuple[int, ...] | None = None  # of the starting launch; None for all
        self.behind = BackgroundWriter()
        self._engines = EnginesUsed()
        self._outside = OutsideReport()
        self._remedies = RemedyTrials()
        self._untried: list[tuple[int, int, FindingData]] = []  # launch, index, and finding with its trial
        try:
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
            self._prints_lines = lines == STANDARD_OUTPUT
            if self._prints_lines:
                handle, lines = tempfile.mkstemp(".json", "tilescope-")
                os.close(handle)
            self.lines = None if lines is None else Path(lines).absolute()
            if self.lines is not None:
                self.lines.write_text("", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"can't write {error.filename}: {error.strerror}; choose another path."
            ) from error

    def note_launch(self, launch: Launch) -> None:
        """Remember which blocks of the next launch run."""
        self._blocks = launch.blocks

    def begin_launch(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """Describe a starting launch for the questions to the compiler."""
        self.compiler.ask(kernel, arguments)
        self._compiled.begin(kernel, arguments, self._blocks)

    def save_launch(self, trace: Trace, seconds: float) -> None:
        """Save a launch, at once or in the background."""
        self._compiled.end(trace)
        caller = (
            caller_of(trace) if self.lines is not None else None
        )  # must be found while the launch is on the stack
        number, self.count = self.count, self.count + 1
        self._outside.report(trace)
        self._engines.note(trace)
        if self.folder is None and self.lines is None:
            return
        task = partial(self._keep, number, trace, seconds, caller, self.compiler.key)
        nbytes = trace.nbytes + sum(content.nbytes for content in trace.initial.values())
        if nbytes <= MAX_IMMEDIATE_BYTES and self.behind.is_idle:
            task()
        else:
            self.behind.do(task, nbytes)

    def _keep(self, number: int, trace: Trace, seconds: float, caller: Caller | None, key: str) -> None:
        if self.folder is not None:
            self._save(trace, self.folder / f"{number:03}-{trace.kernel}.npz")
        if self.lines is not None:
            try:
                self._add_line(self.lines, trace, number, seconds, caller, key)
            except OSError as error:
                self._lose(f"Can't write {self.lines}: {error.strerror}.")

    def _save(self, trace: Trace, path: Path) -> None:
        from ....tracer.storage.trace_file import TraceFileError, save

        try:
            save(trace, path, durable=False)  # there may be hundreds, and they can be traced again
        except TraceFileError as error:
            self._lose(str(error))
        else:
            self.saved.append(path)

    def _lose(self, sentence: str) -> None:
        """Report the first write error; the program continues."""
        if not self.lost:
            print_error(sentence)
        self.lost += 1

    def _add_line(
        self, lines: Path, trace: Trace, number: int, seconds: float, caller: Caller | None, key: str
    ) -> None:
        from ....tracer.analysis.requests import requests_of

        requests = requests_of(trace)
        if caller is None:
            self.compiler.note(number, key, trace, requests)
        prepare = None if caller else partial(self._remedies.prepare, number)
        data = summary(number, trace, seconds, requests, caller, prepare)
        entries = enumerate(data["findings"])
        self._untried += [(number, i, finding) for i, finding in entries if finding.get("trial") is not None]
        data["findings"] = [split_cells(without_internal_keys(finding)) for finding in data["findings"]]
        with lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")

    def _complete_lines(self, lines: Path) -> None:
        """Add findings and counters of the compiler to the lines, once the program has ended."""
        from ....tracer.storage.atomic_write import write_atomically

        compiler_findings, compiled, proven = (
            self.compiler.findings(),
            [compiled_data(answer) for answer in self._compiled.counted()],
            self._proven(),
        )
        if compiler_findings or compiled or proven:
            launches = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
            for number, i, finding in proven:
                launches[number]["findings"][i] = split_cells(without_internal_keys(finding))
            for number, findings in compiler_findings.items():
                launches[number]["findings"] = sort_findings(
                    launches[number]["findings"]
                    + [split_cells(without_internal_keys(finding)) for finding in findings]
                )
            completed = [
                _with_compiled(launch, counters) for launch, counters in zip(launches, compiled, strict=False)
            ]
            launches[: len(completed)] = completed
            write_atomically(lines, "".join(json.dumps(line) + "\n" for line in launches).encode())

    def _proven(self) -> list[tuple[int, int, FindingData]]:
        """Try the remedies; return their findings."""
        ends = self._remedies.prove([finding["trial"] for _, _, finding in self._untried])
        tried = zip(self._untried, ends, strict=True)
        return [(number, i, with_trial_end(finding, end)) for (number, i, finding), end in tried]

    def close(self) -> None:
        """Finish, complete the lines, and report the saved launches."""
        self.behind.finish()
        if self.lines is not None and not self.lost:
            try:
                self._complete_lines(self.lines)
            except OSError as error:
                self._lose(f"Can't write {self.lines}: {error.strerror}.")
        if self.lines is not None and self._prints_lines:
            with suppress(OSError):
                print_lines(self.lines.read_text(encoding="utf-8"))
                self.lines.unlink()
        if self.folder is not None:
            launches = "1 launch" if self.count == 1 else f"{self.count} launches"
            saved_of = "" if len(self.saved) == self.count else f"{len(self.saved)} of "
            print_error(f"{saved_of}{launches} traced in {self._named}")
            self._engines.report()


def _with_compiled(launch: dict[str, Any], compiled: dict[str, Any]) -> dict[str, Any]:
    """Insert a launch's compiled counters after its counters as written."""
    items: list[tuple[str, Any]] = []
    for name, value in launch.items():
        items.append((name, value))
        if name == "counters":
            items += compiled.items()
    return dict(items)


def add_check_arguments(parser: Parser) -> None:
    _add_arguments(
        parser,
        "Run programs, notebooks or CUDA C++ files, one after the other, and print the errors of their kernels: "
        "races, barriers, bounds. The exit status is the worst of them.",
        "check",
    )
    add_report_arguments(parser)
    parser.add_argument(
        "--counters",
        action="store_true",
        help="with --output-format json: add counters of each launch, as written and as compiled, which takes longer",
    )


def execute_check(chosen: Namespace) -> int:
    """Run a program under the tracer and print its findings.

    Returns 0 if no finding is an error, 1 if some are, 2 if the program did not run to its end or launched no kernel.
    The program's output goes to standard error, so that standard output holds only the findings.
    """
    configuration = configuration_here()
    program: ProgramToRun = chosen.program
    if not program.name:
        from .check_programs import check_programs, check_project

        settings = settings_of(chosen, configuration, "")
        with note_if_slow(SLOW_PROJECT):
            if chosen.programs:
                return check_programs(chosen, chosen.programs, settings)
            return check_project(chosen, configuration, settings)
    with_limits(chosen, configuration, CHECK_PATIENCE)
    program.find()
    script = "" if program.is_module or program.is_command else full_path(program.name)
    settings = settings_of(chosen, configuration, script if Path(script).is_file() else "")
    if is_cuda_cpp_program(program):
        return _check_cuda_cpp(chosen, settings)
    crash_report = CrashReport(program.name, settings, counts=chosen.counters)
    launches = CheckedLaunches() if chosen.counters else None
    blocks: tuple[int, ...] | None = None  # of the launch that begins, which run
    waiting = note_if_slow(SLOW_CHECK.format(name=program.name))
    continue_in_child(crash_report.judge, waiting)  # findings survive a kernel that crashes the process
    remedies = RemedyTrials(tries_advice=settings.try_advice)
    collector = FindingCollector(orders=settings.schedules, remedies=remedies, witnesses=settings.witnesses)
    own = os.getpid()

    def take(trace: Trace, seconds: float) -> None:
        collector.add(trace)
        if launches is not None:
            launches.take(trace)
        crash_report.note(collector)

    def refuse(kernel: Any, refusal: Refusal) -> None:
        if os.getpid() == own:
            collector.refuse(kernel, refusal)
            if launches is not None:
                launches.refuse(kernel.fn.__name__)
            crash_report.note(collector)

    def mismatch(kernel: Any, sentence: str) -> None:
        if os.getpid() == own:
            collector.mismatch(kernel, sentence)

    def fail(fault: ProgramFault) -> None:
        if os.getpid() == own:
            collector.note_fault(fault)

    def begin(launch: Launch) -> None:
        nonlocal blocks
        blocks = launch.blocks
        crash_report.begin_launch(launch)

    def launched(kernel: Any, arguments: tuple[Any, ...]) -> None:
        collector.compiler.ask(kernel, arguments)
        if launches is not None:
            launches.begin(kernel, arguments, blocks)

    options_of_check = _options(chosen)._replace(
        refuse_too_large=False,  # it is a finding
        on_last_block=collector.add_last_block,
        before_launch=begin,
        launched=launched,
        refused=refuse,
        on_mismatch=mismatch,
        on_fault=fail,
    )
    forked = record_here(options_of_check, take)
    with _output_to_stderr() as output:
        counted = None if launches is None else launches.counted
        verdict = Verdict(collector, forked, program.name, settings, output, counted)

        def report(status: int) -> int:
            if os.getpid() != own:  # the parent reports for a forked child
                return status
            if status == INTERRUPTED and not collector.launches:  # perhaps in the import of a library we need
                return status
            with original_builtins():
                return verdict.print_report(status)

        with reporting_at_os_exit(report):
            status = program.run()
        return report(status)


def _check_cuda_cpp(chosen: Namespace, settings: CheckSettings) -> int:
    """Run a CUDA C++ program and print its findings; the status is as for `execute_check`."""
    if chosen.counters:
        raise UsageError("--counters is for Numba's kernels; run --json writes the counters of CUDA C++.")
    check_options(chosen)
    collector = FindingCollector(orders=settings.schedules)
    program = CudaProgram(chosen, lambda trace, seconds: collector.add(trace))
    slow = SLOW_CHECK.format(name=chosen.program.name)
    with note_if_slow(slow), _output_to_stderr() as output:
        verdict = Verdict(collector, ForkedLaunches(), chosen.program.name, settings, output)
        status = program.run()
        collect_faults(collector, program.faults)
        return verdict.print_report(status)


@contextmanager
def _output_to_stderr() -> Iterator[TextIO]:
    """Redirect the output of this process and its children to standard error; yield the original standard output."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, errors="backslashreplace")
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield output
    finally:
        with suppress(AttributeError, OSError, ValueError):  # the program may have closed everything
            sys.stdout.flush()
        with suppress(OSError):
            os.dup2(kept, 1)
            os.close(kept)

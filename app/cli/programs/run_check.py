"""`tilescope run` and `tilescope check`: a program of the user's, and what its launches did to memory."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ....tracer.processes.supervised import go_on_in_child
from ....tracer.run.long_launch import MEMORY_A_SECOND
from ....tracer.run.own_builtins import own_builtins
from ..common.arguments import Parser, UsageError, blocks_or_all, positive_number, positive_seconds
from ..common.text_output import complain
from .behind_program import BehindProgram
from .check_verdict import ForkedLaunches, KnownSoFar, Verdict, reporting_at_os_exit
from .compiled_launches import CompiledLaunches
from .findings_output import (
    Caller,
    CompilerFindings,
    EnginesUsed,
    FindingCollector,
    OutsideReport,
    caller_of,
    in_order,
    public,
    summary,
    with_cells,
)
from .program_to_run import ProgramToRun
from .run_as_main import full_path
from .where import write_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....tracer.model.launch import Launch
    from ....tracer.model.trace import Trace
    from ....tracer.run.program_hook import RecordingOptions
    from ....tracer.type_inference.question import Refusal

SOON = 1 << 18  # bytes of a trace that is saved sooner than handed over
OPTIONS_WITH_VALUE = (
    "--engine",
    "--schedule",
    "--seed",
    "--resident",
    "--blocks",
    "--out",
    "--json",
    "--format",
    "--text",
    "--patience",
    "--where",
)
PATIENCE = {"check": 6.0, "run": 20.0}  # seconds


def parse(parser: Parser, words: Sequence[str]) -> Namespace:
    """Return the options and, as `program`, what to run: from the script on all words are the program's."""
    options, program = split(words)
    chosen = parser.parse_args(options)
    chosen.program = program
    return chosen


def split(words: Sequence[str]) -> tuple[list[str], ProgramToRun]:
    """Return (our options, the program): everything from the script on belongs to the program.

    Raises UsageError where no program is named.
    """
    index = 0
    while index < len(words):
        word = words[index]
        if word == "-m" and index + 1 < len(words):
            return list(words[:index]), ProgramToRun(words[index + 1], list(words[index + 2 :]), True)
        if not word.startswith("-"):
            return list(words[:index]), ProgramToRun(word, list(words[index + 1 :]), False)
        index += 2 if word in OPTIONS_WITH_VALUE else 1
    if "-h" in words or "--help" in words:
        return ["--help"], ProgramToRun("", [], False)
    raise UsageError("no program is named; give a script or a notebook, or -m and a module.")


def _add_arguments(parser: Parser, description: str, command: str) -> None:
    """Add what `run` and `check` both take."""
    patience = PATIENCE[command]
    usage = "{0} [OPTIONS] SCRIPT | NOTEBOOK [ARGUMENTS ...]\n       {0} [OPTIONS] -m MODULE ..."
    parser.usage = usage.format(parser.prog)
    parser.description = description
    parser.add_argument(
        "--engine",
        choices=("compiled", "simulator"),
        help="what runs the kernels; without a choice, compiled code where many accesses make it worth compiling",
    )
    parser.add_argument("--schedule", choices=("lockstep", "sequential", "random"), default="lockstep")
    parser.add_argument("--seed", type=int, default=0, help="of the random schedule")
    parser.add_argument("--resident", type=positive_number, metavar="N", help="blocks that run at once")
    parser.add_argument(
        "--blocks",
        type=blocks_or_all,
        metavar="0,5",
        help="run these blocks alone; or all, also of launches so large that some would stand for them",
    )
    parser.add_argument(
        "--patience",
        type=positive_seconds,
        default=patience,
        metavar="SECONDS",
        help=f"of CPU time, after which a block is taken for endless, {patience:g} without a choice; "
        f"it may take {MEMORY_A_SECOND // 10**6} MB of memory for each",
    )
    parser.add_argument(
        "--stop-at-errors",
        action="store_true",
        help="raise IndexError after a launch with an access outside an array, where a GPU continues",
    )


def _options(chosen: Namespace) -> RecordingOptions:
    from ....tracer.model.launch import Schedule
    from ....tracer.run.program_hook import RecordingOptions

    schedule = Schedule(chosen.schedule, chosen.seed)
    every = chosen.blocks == "all"
    blocks = None if every else chosen.blocks
    return RecordingOptions(
        schedule,
        chosen.resident,
        blocks,
        engine=chosen.engine,
        every_block=every,
        patience=chosen.patience,
        tell=_teller(sys.stderr),
        stop_at_errors=chosen.stop_at_errors,
    )


def _teller(stream: TextIO | None) -> Callable[[str], None]:
    """Return what prints a sentence of ours at once, on what is standard error before the program runs."""

    def tell(sentence: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads it, or the program has closed it
            complain(sentence, stream)

    return tell


def add_run_arguments(parser: Parser) -> None:
    _add_arguments(
        parser,
        "Run a program as python would, or a notebook cell by cell, and record every kernel that it launches.",
        "run",
    )
    parser.add_argument("--out", default="tilescope-traces", metavar="DIR", help="where the traces go")
    parser.add_argument("--json", metavar="FILE", help="write one line of JSON for each launch")
    parser.add_argument("--quiet", action="store_true", help="save no traces")
    parser.add_argument("--text", metavar="FILE", help="a text that runs in place of the script's own")
    parser.add_argument("--where", metavar="FILE", help="write now and then which line of the script runs")
    parser.add_argument("--open", action="store_true", help="open the window on the first trace afterwards")


def execute_run(chosen: Namespace) -> int:
    """Run a program under the tracer and save the trace of every launch; return the program's exit status."""
    program: ProgramToRun = chosen.program._replace(text=chosen.text or "")
    program.find()
    saver = LaunchSaver(None if chosen.quiet else Path(chosen.out), chosen.json)
    options_of_run = _options(chosen)
    if chosen.json:
        options_of_run = options_of_run._replace(begins=saver.note_launch, launched=saver.begin_launch)
    forked = _record(options_of_run, saver.save_launch)
    own = os.getpid()
    if chosen.where:
        write_where(Path(chosen.where).absolute(), full_path(program.name))
    try:
        with saver.behind.finished_before_leaving():
            status = program.run()
        with own_builtins():
            saver.behind.finish()
        return status or (2 if saver.lost else 0)
    finally:
        if os.getpid() == own:  # else a child that the program forked
            with own_builtins():
                saver.close()
                forked.report()
                if chosen.open and saver.saved:
                    _open_window(saver.saved[0])


def _record(options: RecordingOptions, recorded: Callable[[Trace, float], None]) -> ForkedLaunches:
    from ....tracer.run.program_hook import record_launches

    own, forked = os.getpid(), ForkedLaunches()

    def take(trace: Trace, seconds: float) -> None:
        if os.getpid() == own:
            recorded(trace, seconds)
        else:
            forked.launched()

    ask = options.launched

    def launched(kernel: Any, arguments: tuple[Any, ...]) -> None:
        if ask and os.getpid() == own:
            ask(kernel, arguments)

    record_launches(options._replace(launched=launched), take)
    return forked


def _open_window(trace: Path) -> None:
    import subprocess

    # A process of its own: the window's never imports numba, and this one has.
    subprocess.Popen([sys.executable, "-P", "-m", "tilescope", str(trace)])


class LaunchSaver:
    """Saves each launch that has ended: its trace in a folder, its line in a file of JSON.

    Large ones are saved while the program goes on. Theirs are the same files, in the same order.
    """

    def __init__(self, folder: Path | None, lines: str | None) -> None:
        # A program may go to another folder, and a notebook does.
        self.folder = None if folder is None else folder.absolute()
        self._named = folder
        self.saved: list[Path] = []
        self.count = 0
        self.lost = 0  # traces and lines that could not be written
        self.compiler = CompilerFindings()
        self._compiled = CompiledLaunches()
        self._blocks: tuple[int, ...] | None = None  # of the launch that begins, which run; None for all
        self.behind = BehindProgram()
        self._engines = EnginesUsed()
        self._outside = OutsideReport()
        try:
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
            self.lines = None if lines is None else Path(lines).absolute()
            if self.lines is not None:
                self.lines.write_text("", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"can't write {error.filename}: {error.strerror}; choose another place."
            ) from error

    def note_launch(self, launch: Launch) -> None:
        """Note which blocks of the next launch run."""
        self._blocks = launch.blocks

    def begin_launch(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """Describe a launch that begins, for what the compiler is asked about it."""
        self.compiler.ask(kernel, arguments)
        self._compiled.begin(kernel, arguments, self._blocks)

    def save_launch(self, trace: Trace, seconds: float) -> None:
        """Save a launch, at once or soon."""
        self._compiled.end()
        caller = caller_of(trace) if self.lines is not None else None  # which later nobody could tell
        number, self.count = self.count, self.count + 1
        self._outside.report(trace)
        self._engines.note(trace)
        if self.folder is None and self.lines is None:
            return
        task = partial(self._keep, number, trace, seconds, caller, self.compiler.key)
        nbytes = trace.nbytes + sum(content.nbytes for content in trace.initial.values())
        if nbytes <= SOON and self.behind.is_idle:
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
            save(trace, path, durable=False)  # of hundreds of launches; it can be recorded again
        except TraceFileError as error:
            self._lose(str(error))
        else:
            self.saved.append(path)

    def _lose(self, sentence: str) -> None:
        """Say why something can't be written, the first time: the program goes on all the same."""
        if not self.lost:
            complain(sentence)
        self.lost += 1

    def _add_line(
        self, lines: Path, trace: Trace, number: int, seconds: float, caller: Caller | None, key: str
    ) -> None:
        from ....tracer.analysis.requests import requests_of

        requests = requests_of(trace)
        if caller is None:
            self.compiler.note(number, key, trace, requests)
        told = summary(number, trace, seconds, requests, caller)
        told["findings"] = [with_cells(public(finding)) for finding in told["findings"]]
        with lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")

    def _complete_lines(self, lines: Path) -> None:
        """Add to the lines what is known once the program has ended: findings and counters of the compiler."""
        from ....tracer.storage.atomic_write import write_atomically

        late, compiled = self.compiler.findings(), self._compiled.counted()
        if late or compiled:
            launches = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
            for number, found in late.items():
                launches[number]["findings"] = in_order(
                    launches[number]["findings"] + [with_cells(public(finding)) for finding in found]
                )
            completed = [
                _with_compiled(launch, counters) for launch, counters in zip(launches, compiled, strict=False)
            ]
            launches[: len(completed)] = completed
            write_atomically(lines, "".join(json.dumps(line) + "\n" for line in launches).encode())

    def close(self) -> None:
        """Finish, complete the lines, and say what was saved."""
        self.behind.finish()
        if self.lines is not None and not self.lost:
            try:
                self._complete_lines(self.lines)
            except OSError as error:
                self._lose(f"Can't write {self.lines}: {error.strerror}.")
        if self.folder is not None:
            launches = "1 launch" if self.count == 1 else f"{self.count} launches"
            some = "" if len(self.saved) == self.count else f"{len(self.saved)} of "
            complain(f"{some}{launches} recorded in {self._named}")
            self._engines.report()


def _with_compiled(launch: dict[str, Any], compiled: dict[str, Any]) -> dict[str, Any]:
    """Return a launch's line with its counters as compiled behind those as written."""
    items: list[tuple[str, Any]] = []
    for name, value in launch.items():
        items.append((name, value))
        if name == "counters":
            items += compiled.items()
    return dict(items)


def add_check_arguments(parser: Parser) -> None:
    _add_arguments(
        parser,
        "Run a program or a notebook and print what its kernels do wrong: races, barriers, bounds.",
        "check",
    )
    parser.add_argument("--format", choices=("text", "json", "github"), default="text")


def execute_check(chosen: Namespace) -> int:
    """Run a program under the tracer and print its findings.

    Returns 0 where none is an error, 1 where some are, 2 where the program could not be run to its end or launched
    no kernel. What the program prints goes to standard error, so that standard output holds the findings alone.
    """
    program: ProgramToRun = chosen.program
    program.find()
    known = KnownSoFar(program.name, chosen.format)
    go_on_in_child(known.judge)  # a kernel that calls what crashes takes none of the findings with it
    collector, own = FindingCollector(), os.getpid()

    def take(trace: Trace, seconds: float) -> None:
        collector.take(trace)
        known.note(collector)

    def refuse(kernel: Any, refusal: Refusal) -> None:
        if os.getpid() == own:
            collector.refuse(kernel, refusal)
            known.note(collector)

    def mismatch(kernel: Any, sentence: str) -> None:
        if os.getpid() == own:
            collector.mismatch(kernel, sentence)

    options_of_check = _options(chosen)._replace(
        refuse_too_large=False,  # it is a finding
        take_last=collector.take_last,
        begins=known.begin_launch,
        launched=collector.compiler.ask,
        refused=refuse,
        mismatched=mismatch,
    )
    forked = _record(options_of_check, take)
    with _output_to_stderr() as output:
        verdict = Verdict(collector, forked, program.name, chosen.format, output)

        def report(status: int) -> int:
            if os.getpid() != own:  # of a forked child its parent tells
                return status
            with own_builtins():
                return verdict.report(status)

        with reporting_at_os_exit(report):
            status = program.run()
        return report(status)


@contextmanager
def _output_to_stderr() -> Iterator[TextIO]:
    """Send what this process and its children print to standard error; give what was standard output."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, errors="backslashreplace")
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield output
    finally:
        with suppress(AttributeError, OSError, ValueError):  # the program may have closed it, and all else
            sys.stdout.flush()
        with suppress(OSError):
            os.dup2(kept, 1)
            os.close(kept)

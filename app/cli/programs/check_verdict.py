"""The report of `tilescope check` once a program has ended, by whatever way."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import contextmanager, suppress
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from ....tracer.processes.supervised import SharedNote
from ..common.arguments import UsageError
from ..common.text_output import print_error
from ..policy.add_ignore import add_ignores
from ..policy.fingerprints import source_line
from ..policy.fixes import apply_fixes, diff_of
from ..policy.policy import Coverage, Judged
from ..policy.suppressions import SuppressionError
from ..reports.outputs import is_for_people, write_outputs
from ..reports.report import FindingData, Report, TracedData, not_traced_text, suppressed_text, traced_data, traced_text
from .check_settings import CheckSettings
from .findings_output import EnginesUsed, FindingCollector, Kernel, sort_findings
from .run_as_main import INTERRUPTED
from .unlaunched import KernelLines, kernels_never_launched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....tracer.model.launch import Launch

UNRECORDED = "kernels were also launched in child processes; those launches are not traced."
MOST_NAMED = 4  # kernels that were never launched


class ForkedLaunches:
    """Whether forked processes launched a kernel: they share a byte with their parent."""

    def __init__(self) -> None:
        self._shared = mmap(-1, 1)

    def launched(self) -> None:
        """Record, in a child, that it launched a kernel."""
        self._shared[0] = 1

    @property
    def have_launched(self) -> bool:
        """Whether a child launched a kernel."""
        return self._shared[0] != 0

    def report(self) -> None:
        """Report untraced launches, if there were any."""
        if self.have_launched:
            print_error(UNRECORDED)


class Verdict:
    """The report on a program, and its exit status.

    name: of the program, as the user gave it: the files of findings are named likewise, absolute or relative, since
    annotations are shown next to the file that they name. launches: counts the launches, None if not asked for.
    """

    def __init__(
        self,
        collector: FindingCollector | CrashReport,
        forked: ForkedLaunches,
        name: str,
        settings: CheckSettings,
        output: TextIO,
        launches: Callable[[], list[dict[str, Any]]] | None = None,
    ) -> None:
        self.collector, self.forked, self._launches = collector, forked, launches
        self._settings, self._output, self._name = settings, output, name
        self._folder = None if Path(name).is_absolute() else Path.cwd()

    def print_report(self, status: int) -> int:
        """Print the findings of a program that ended with this status; return the exit status of `check`."""
        findings, settings = self.collector.findings(), self._settings
        skipped = self._kernels_never_launched()
        files = tuple(dict.fromkeys(file for _, file in self.collector.kernels))
        lines = tuple((kernel.file, kernel.first, kernel.last) for kernel in skipped)
        try:
            judged = settings.policy.judge(findings, Coverage(files, lines, status == 0), self._named)
        except SuppressionError as error:
            print_error(error)
            return 2
        not_traced = [*self._skipped_texts(skipped), *self._forked_texts()]
        report = Report(
            self._name,
            judged.findings,
            judged.suppressed,
            self.collector.traced(settings.schedule, not_traced),
            status == 0,
            settings.policy.baseline is not None,
            None if self._launches is None else self._launches(),
        )
        if settings.diff:
            self._print(diff_of(judged.findings, self._path))
            is_written = True
        else:
            is_written = write_outputs(report, settings.outputs, self._output)
        if is_for_people(settings.outputs):
            self.collector.engines.report()
        self._print_closing(report, judged)
        try:
            is_changed = self._change_files(judged)
        except UsageError as error:
            print_error(error)
            return 2
        return self._status(status, report, is_written, is_changed)

    def _status(self, status: int, report: Report, is_written: bool, is_changed: bool) -> int:
        """Return the exit status: is_changed states that all findings were accepted."""
        launched = self.collector.launches > 0
        if status == INTERRUPTED:
            return status
        has_errors = any(finding["severity"] == "error" for finding in report.findings)
        if has_errors and not is_changed and not self._settings.exit_zero:
            return 1
        if has_errors and is_written:
            return 0
        if not launched and not status:
            print_error("the program launched no kernel, so nothing was checked.")
        return 2 if status or not launched or not is_written else 0

    def _print_closing(self, report: Report, judged: Judged) -> None:
        """State on standard error what was traced, what was not, and what is not reported."""
        texts = [suppressed_text(report), judged.left_out_text()]
        if report.traced["launches"]:
            texts.append(traced_text(report.traced))
        if self.collector.launches:
            texts.append(not_traced_text(report.traced))
        for text in filter(None, texts):
            print_error(text)

    def _change_files(self, judged: Judged) -> bool:
        """Write what the options ask for; return True if that accepts all findings."""
        settings = self._settings
        absolute = [_with_path(finding, self._path) for finding in judged.findings]
        if settings.baseline_reason and settings.policy.baseline is not None:
            texts = [source_line(finding["file"], finding["line"]) for finding in absolute]
            baseline = settings.policy.baseline.with_findings(judged.findings, texts, settings.baseline_reason)
            baseline.write()
            print_error(f"{baseline.path} now has {len(baseline.entries):,} accepted findings.")
            return True
        if settings.ignore_reason:
            count, unchanged = add_ignores(absolute, settings.ignore_reason)
            print_error(f"comments were added on {count:,} lines.")
            for file in unchanged:
                print_error(f"{self._named(file)} stays as it is: a comment can't be added there.")
            return not unchanged
        if settings.fix:
            for sentence in apply_fixes(absolute, self._named):
                print_error(sentence)
        return False

    def _print(self, text: str) -> None:
        with suppress(OSError, ValueError), self._output:
            self._output.write(text)

    def _kernels_never_launched(self) -> list[KernelLines]:
        from ....tracer.model.user_code import user_code_for

        launched = self.collector.kernels
        files = [file for _, file in launched if user_code_for(file).owns(file)]
        script = [self._settings.script] if self._settings.script else []
        return kernels_never_launched([*script, *files], launched)

    def _skipped_texts(self, skipped: list[KernelLines]) -> list[str]:
        """Describe the kernels that were never launched."""
        if not skipped:
            return []
        names = [f"{kernel.name} ({self._named(kernel.file)}:{kernel.first})" for kernel in skipped[:MOST_NAMED]]
        more = [f"{len(skipped) - MOST_NAMED:,} more"] if len(skipped) > MOST_NAMED else []
        return [f"{', '.join([*names, *more])}, which the program never launched"]

    def _forked_texts(self) -> list[str]:
        return ["launches in child processes"] if self.forked.have_launched else []

    def _named(self, file: str) -> str:
        path = Path(file)
        return (
            str(path.relative_to(self._folder))
            if self._folder and path.is_relative_to(self._folder)
            else file
        )

    def _path(self, name: str) -> str:
        """Return the absolute path of a file as `_named` names it."""
        return name if self._folder is None or Path(name).is_absolute() else str(self._folder / name)


def _with_path(finding: FindingData, path_of: Callable[[str], str]) -> FindingData:
    places = [place | {"file": path_of(place["file"])} for place in finding["places"]]
    return finding | {"file": path_of(finding["file"]), "places": places}


class CrashReport:
    """The findings of a check and its running kernel, stored so that they outlive a crash of the process."""

    def __init__(self, name: str, settings: CheckSettings, *, counts: bool = False) -> None:
        self._name, self._settings, self._counts = name, settings, counts
        self._note = SharedNote()
        self._process = 0
        self._found: list[FindingData] = []
        self._traced = traced_data()
        self._launches, self._kernel = 0, ""
        self._kernels: list[Kernel] = []
        self.engines = EnginesUsed()  # empty: engines are reported only for programs that ended

    def begin_launch(self, launch: Launch) -> None:
        """Record that a kernel starts."""
        self._process = self._process or os.getpid()
        self._kernel = launch.kernel.rpartition(":")[2]
        self._write()

    def note(self, collector: FindingCollector) -> None:
        """Record the findings, once a launch has ended."""
        self._launches, self._found, self._kernel = collector.launches, collector.current_findings(), ""
        self._traced, self._kernels = collector.traced(self._settings.schedule, []), collector.kernels
        self._write()

    def _write(self) -> None:
        if os.getpid() == self._process:  # not in a process that the program forked
            data = [self._found, self._launches, self._kernel, self._traced, self._kernels]
            self._note.write(json.dumps(data).encode())

    def findings(self) -> list[FindingData]:
        """Return the recorded findings, worst first."""
        return sort_findings(self._found)

    @property
    def launches(self) -> int:
        """The number of completed launches."""
        return self._launches

    @property
    def kernels(self) -> list[Kernel]:
        """The name and file of each launched kernel."""
        return self._kernels

    def traced(self, schedule: str, not_traced: list[str]) -> TracedData:
        """Describe what was traced until the crash; see `FindingCollector.traced`."""
        return self._traced | {"schedule": schedule, "not_traced": [*self._traced["not_traced"], *not_traced]}

    def judge(self, status: int) -> int | None:
        """Report on a program that a signal ended; return the status of `check`.

        Returns None if the signal came outside a kernel: then `check` ends as the program did.
        """
        from ....tracer.processes.json_process import describe_exit_status

        if status >= 0:
            return status
        if note := self._note.read():
            self._found, self._launches, self._kernel, self._traced, kernels = json.loads(note)
            self._kernels = [(name, file) for name, file in kernels]
        where = f" in its kernel {self._kernel}" if self._kernel else ""
        print_error(f"{describe_exit_status(status)} ended the program{where}.")
        uncounted = list if self._counts else None  # the launches ended with their process
        verdict = Verdict(self, ForkedLaunches(), self._name, self._settings, sys.stdout, uncounted)
        reported = verdict.print_report(1)
        return reported if where else None


@contextmanager
def reporting_at_os_exit(report: Callable[[int], int]) -> Iterator[None]:
    """Report the findings also if the program ends by os._exit, which runs no cleanup."""
    leave = os._exit

    def report_and_leave(status: int) -> NoReturn:
        os._exit = leave
        leave(report(status))

    os._exit = report_and_leave
    try:
        yield
    finally:
        os._exit = leave

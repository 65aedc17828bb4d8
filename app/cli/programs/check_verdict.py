"""The report of `tilescope check` once a program has ended, by whatever way."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from ....tracer.processes.supervised import SharedNote
from ..common.text_output import print_error
from ..policy.policy import Coverage
from ..policy.suppressions import SuppressionError
from ..reports.outputs import is_for_people
from ..reports.report import FindingData, Report, TracedData, traced_data
from .check_conclusion import Conclusion, file_name
from .check_settings import CheckSettings
from .findings_output import EnginesUsed, FindingCollector, Kernel, sort_findings
from .forked_launches import ForkedLaunches
from .unlaunched import KernelLines, kernels_never_launched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....tracer.model.launch import Launch


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
        report = Report(
            self._name,
            judged.findings,
            judged.suppressed,
            self._traced(skipped),
            status == 0,
            judged.not_selected,
            settings.policy.baseline is not None,
            None if self._launches is None else self._launches(),
        )
        engines = self.collector.engines.report if is_for_people(settings.outputs) else None
        conclusion = Conclusion(settings, self._folder, self._output)
        return conclusion.conclude(report, status, self.collector.launches > 0, engines)

    def _kernels_never_launched(self) -> list[KernelLines]:
        from ....tracer.model.user_code import user_code_for

        launched = self.collector.kernels
        files = [file for _, file in launched if user_code_for(file).owns(file)]
        script = [self._settings.script] if self._settings.script else []
        return kernels_never_launched([*script, *files], launched)

    def _traced(self, skipped: list[KernelLines]) -> TracedData:
        """Describe what was traced, with the names of files as in the report."""
        traced = self.collector.traced(self._settings.schedule)
        forked = ["launches in child processes"] if self.forked.have_launched else []
        return traced | {
            "kernel_names": [self._named(name) for name in traced["kernel_names"]],
            "not_traced": [*traced["not_traced"], *forked],
            "never_launched": [
                {"kernel": kernel.name, "file": self._named(kernel.file), "line": kernel.first}
                for kernel in skipped
            ],
        }

    def _named(self, file: str) -> str:
        return file_name(file, self._folder)


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
        self._traced, self._kernels = collector.traced(self._settings.schedule), collector.kernels
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

    def traced(self, schedule: str) -> TracedData:
        """Describe what was traced until the crash; see `FindingCollector.traced`."""
        return self._traced | {"schedule": schedule}

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

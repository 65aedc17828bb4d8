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
from ..common.text_output import print_error
from .findings_output import EnginesUsed, FindingCollector, FindingData, print_findings, sort_findings
from .run_as_main import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....tracer.model.launch import Launch

UNRECORDED = "kernels were also launched in child processes; those launches are not traced."


class ForkedLaunches:
    """Whether forked processes launched a kernel: they share a byte with their parent."""

    def __init__(self) -> None:
        self._shared = mmap(-1, 1)

    def launched(self) -> None:
        """Record, in a child, that it launched a kernel."""
        self._shared[0] = 1

    def report(self) -> None:
        """Report untraced launches, if there were any."""
        if self._shared[0]:
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
        form: str,
        output: TextIO,
        launches: Callable[[], list[dict[str, Any]]] | None = None,
    ) -> None:
        self.collector, self.forked, self._launches = collector, forked, launches
        self._form, self._output = form, output
        self._folder = None if Path(name).is_absolute() else Path.cwd()

    def print_report(self, status: int) -> int:
        """Print the findings of a program that ended with this status; return the exit status of `check`."""
        findings = [self._with_names(finding) for finding in self.collector.findings()]
        launched = self.collector.launches > 0
        empty_text = "" if not launched else "no findings before it ended" if status else "no findings"
        launches = None if self._launches is None else self._launches()
        # A reader that stops early, or a closed output, does not change the status.
        with suppress(OSError), self._output:
            print_findings(findings, self._form, self._output, empty_text, launches)
        if self._form == "text":
            self.collector.engines.report()
        self.forked.report()
        if status == INTERRUPTED:
            return status
        if any(finding["severity"] == "error" for finding in findings):
            return 1
        if not launched and not status:
            print_error("the program launched no kernel, so nothing was checked.")
        return 2 if status or not launched else 0

    def _with_names(self, finding: FindingData) -> FindingData:
        places = [place | {"file": self._named(place["file"])} for place in finding["places"]]
        return finding | {"file": self._named(finding["file"]), "places": places}

    def _named(self, file: str) -> str:
        path = Path(file)
        return (
            str(path.relative_to(self._folder))
            if self._folder and path.is_relative_to(self._folder)
            else file
        )


class CrashReport:
    """The findings of a check and its running kernel, stored so that they outlive a crash of the process."""

    def __init__(self, name: str, form: str, *, counts: bool = False) -> None:
        self._name, self._form, self._counts = name, form, counts
        self._note = SharedNote()
        self._process = 0
        self._found: list[FindingData] = []
        self._launches, self._kernel = 0, ""
        self.engines = EnginesUsed()  # empty: engines are reported only for programs that ended

    def begin_launch(self, launch: Launch) -> None:
        """Record that a kernel starts."""
        self._process = self._process or os.getpid()
        self._kernel = launch.kernel.rpartition(":")[2]
        self._write()

    def note(self, collector: FindingCollector) -> None:
        """Record the findings, once a launch has ended."""
        self._launches, self._found, self._kernel = collector.launches, collector.current_findings(), ""
        self._write()

    def _write(self) -> None:
        if os.getpid() == self._process:  # not in a process that the program forked
            self._note.write(json.dumps([self._found, self._launches, self._kernel]).encode())

    def findings(self) -> list[FindingData]:
        """Return the recorded findings, worst first."""
        return sort_findings(self._found)

    @property
    def launches(self) -> int:
        """The number of completed launches."""
        return self._launches

    def judge(self, status: int) -> int | None:
        """Report on a program that a signal ended; return the status of `check`.

        Returns None if the signal came outside a kernel: then `check` ends as the program did.
        """
        from ....tracer.processes.json_process import describe_exit_status

        if status >= 0:
            return status
        if note := self._note.read():
            self._found, self._launches, self._kernel = json.loads(note)
        where = f" in its kernel {self._kernel}" if self._kernel else ""
        print_error(f"{describe_exit_status(status)} ended the program{where}.")
        uncounted = list if self._counts else None  # the launches ended with their process
        verdict = Verdict(self, ForkedLaunches(), self._name, self._form, sys.stdout, uncounted)
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

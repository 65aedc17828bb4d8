"""What `tilescope check` says of a program once it has ended, however it did."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import contextmanager, suppress
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from ....tracer.processes.supervised import SharedNote
from ..common.text_output import complain
from .findings_output import EnginesUsed, FindingCollector, FindingData, in_order, print_findings
from .run_as_main import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....tracer.model.launch import Launch

UNRECORDED = "kernels were launched in child processes too; those launches are not recorded."


class ForkedLaunches:
    """Whether processes that the program forked launched a kernel: they and their parent share a byte."""

    def __init__(self) -> None:
        self._shared = mmap(-1, 1)

    def launched(self) -> None:
        """Note, in a child, that it launched a kernel."""
        self._shared[0] = 1

    def report(self) -> None:
        """Say that there were launches which were not recorded, if there were."""
        if self._shared[0]:
            complain(UNRECORDED)


class Verdict:
    """What is said of a program, and the exit status that follows.

    name: of the program, as the user gave it: lines are reported of files named in the same way, from the root on or
    not, since an annotation is shown beside the file that it names.
    """

    def __init__(
        self,
        collector: FindingCollector | KnownSoFar,
        forked: ForkedLaunches,
        name: str,
        form: str,
        output: TextIO,
    ) -> None:
        self.collector, self.forked = collector, forked
        self._form, self._output = form, output
        self._folder = None if Path(name).is_absolute() else Path.cwd()

    def report(self, status: int) -> int:
        """Print what was found in a program that ended with this status; return the exit status of `check`."""
        found = [self._with_names(finding) for finding in self.collector.findings()]
        launched = self.collector.launches > 0
        none = "" if not launched else "nothing found before it ended" if status else "no findings"
        # Who reads a part of the findings gets the same status, and who has closed everything too.
        with suppress(OSError), self._output:
            print_findings(found, self._form, self._output, none)
        if self._form == "text":
            self.collector.engines.report()
        self.forked.report()
        if status == INTERRUPTED:
            return status
        if any(finding["severity"] == "error" for finding in found):
            return 1
        if not launched and not status:
            complain("the program launched no kernel, so nothing was checked.")
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


class KnownSoFar:
    """What a check has found, and which kernel runs: kept where it outlives the process that finds it."""

    def __init__(self, name: str, form: str) -> None:
        self._name, self._form = name, form
        self._note = SharedNote()
        self._own = 0
        self._found: list[FindingData] = []
        self._launches, self._kernel = 0, ""
        self.engines = EnginesUsed()  # none: what ran is told of programs that came to their end

    def begin_launch(self, launch: Launch) -> None:
        """Note that a kernel runs from now on."""
        self._own = self._own or os.getpid()
        self._kernel = launch.kernel.rpartition(":")[2]
        self._write()

    def note(self, collector: FindingCollector) -> None:
        """Note what was found, once a launch has ended."""
        self._launches, self._found, self._kernel = collector.launches, collector.found(), ""
        self._write()

    def _write(self) -> None:
        if os.getpid() == self._own:  # not in a process that the program forked
            self._note.write(json.dumps([self._found, self._launches, self._kernel]).encode())

    def findings(self) -> list[FindingData]:
        """Return the findings that were noted, worst first."""
        return in_order(self._found)

    @property
    def launches(self) -> int:
        """How many launches had ended."""
        return self._launches

    def judge(self, status: int) -> int | None:
        """Say what is known of a program whose process ended so, if a signal ended it; return the status of `check`.

        None where the signal came outside a kernel: then `check` ends as the program did.
        """
        from ....tracer.processes.json_process import cause_of_death

        if status >= 0:
            return status
        if noted := self._note.read():
            self._found, self._launches, self._kernel = json.loads(noted)
        where = f" in its kernel {self._kernel}" if self._kernel else ""
        complain(f"{cause_of_death(status)} ended the program{where}.")
        reported = Verdict(self, ForkedLaunches(), self._name, self._form, sys.stdout).report(1)
        return reported if where else None


@contextmanager
def reporting_at_os_exit(report: Callable[[int], int]) -> Iterator[None]:
    """Report what was found also where the program ends by os._exit, which leaves nobody time for it."""
    leave = os._exit

    def report_and_leave(status: int) -> NoReturn:
        os._exit = leave
        leave(report(status))

    os._exit = report_and_leave
    try:
        yield
    finally:
        os._exit = leave

"""What `tilescope check` says of a program once it has ended, however it did."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import contextmanager, suppress
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from .findings_output import FindingCollector, print_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

UNRECORDED = "tilescope: kernels were launched in child processes too; those launches are not recorded."


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
            print(UNRECORDED, file=sys.stderr)


class Verdict:
    """What is said of a program, and the exit status that follows.

    name: of the program, as the user gave it: lines are reported of files named in the same way, from the root on or
    not, since an annotation is shown beside the file that it names.
    """

    def __init__(
        self, collector: FindingCollector, forked: ForkedLaunches, name: str, form: str, output: TextIO
    ) -> None:
        self.collector, self.forked = collector, forked
        self._form, self._output = form, output
        self._folder = None if Path(name).is_absolute() else Path.cwd()

    def report(self, status: int) -> int:
        """Print what was found in a program that ended with this status; return the exit status of `check`."""
        found = [f | {"file": self._named(f["file"])} for f in self.collector.findings()]
        launched = self.collector.launches > 0
        none = "" if not launched else "nothing found before it ended" if status else "no findings"
        with suppress(BrokenPipeError), self._output:  # who reads a part of the findings gets the same status
            print_findings(found, self._form, self._output, none)
        self.forked.report()
        if any(finding["severity"] == "error" for finding in found):
            return 1
        if not launched and not status:
            print("tilescope: the program launched no kernel, so nothing was checked.", file=sys.stderr)
        return 2 if status or not launched else 0

    def _named(self, file: str) -> str:
        path = Path(file)
        return (
            str(path.relative_to(self._folder))
            if self._folder and path.is_relative_to(self._folder)
            else file
        )


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

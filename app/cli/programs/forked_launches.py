"""Record the launches of one process, and note whether processes that it forked launched kernels too."""

from __future__ import annotations

import os
from collections.abc import Callable
from mmap import mmap
from typing import TYPE_CHECKING, Any

from ..common.text_output import print_error

if TYPE_CHECKING:
    from ....tracer.model.trace import Trace
    from ....tracer.run.program_hook import RecordingOptions

UNRECORDED = "kernels were also launched in child processes; those launches are not traced."


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


def record_here(options: RecordingOptions, recorded: Callable[[Trace, float], None]) -> ForkedLaunches:
    """Record the launches of this process as `record_launches` does; those of forked processes are only noted."""
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

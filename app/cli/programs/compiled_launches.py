"""The compiled counters of a program's launches: described as each starts, and counted after the program."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....tracer.as_compiled.job import CompiledCounters
    from ....tracer.as_compiled.live_job import LiveLaunch

SECONDS = 600.0  # for all launches of a program
KEPT_BYTES = 1 << 31  # of copies of arrays
TOO_LATE = "The program made too many launches to count them as compiled; count fewer at a time."


class CompiledLaunches:
    """Counts the launches of a program as compiled code."""

    def __init__(self) -> None:
        self._waiting: LiveLaunch | None = None  # the launch that started last
        self._launches: list[LiveLaunch] = []

    def begin(self, kernel: Any, arguments: tuple[Any, ...], blocks: tuple[int, ...] | None = None) -> None:
        """Describe a launch that starts."""
        from ....tracer.as_compiled.live_job import LiveLaunch

        self.drop()
        self._waiting = LiveLaunch(kernel, arguments, blocks)

    def end(self) -> None:
        """Keep the launch that started last: it has ended."""
        if self._waiting is not None:
            self._launches.append(self._waiting)
            self._waiting = None

    def drop(self) -> None:
        """Forget the launch that started last."""
        if self._waiting is not None:
            self._waiting.discard()
            self._waiting = None

    def counted(self) -> list[dict[str, Any]]:
        """Count all launches; return the entries for their lines of JSON, in order."""
        from ....tracer.as_compiled.client import CompiledCounting
        from ....tracer.as_compiled.job import CompiledCounters
        from ....tracer.storage.folders import cache_folder

        self.drop()
        counting = CompiledCounting(cache_folder() / "as-compiled")
        end = time.monotonic() + SECONDS
        entries = []
        try:
            for launch in self._launches:
                if launch.job is None:
                    answer = CompiledCounters(reason=launch.reason)
                elif time.monotonic() > end:
                    answer = counting.known(launch.job) or CompiledCounters(reason=TOO_LATE)
                else:
                    answer = counting.count(launch.job)
                launch.discard()
                entries.append(told(answer))
        finally:
            counting.close()
        return entries


def told(answer: CompiledCounters) -> dict[str, Any]:
    """Convert compiled counters to plain data."""
    compiled: dict[str, Any] = {"compiler": answer.compiler, "notes": list(answer.notes)}
    if answer.reason:
        compiled = {"reason": answer.reason}
    if answer.registers is not None:
        compiled |= {"registers": answer.registers, "spills": answer.spills}
    return {"compiled_counters": dict(answer.counters) if not answer.reason else None, "compiled": compiled}

"""The compiled counters of a program's launches: described as each starts, and counted after the program."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....tracer.as_compiled.job import CompiledCounters
    from ....tracer.as_compiled.live_job import LiveLaunch
    from ....tracer.model.trace import Trace

SECONDS = 600.0  # for all launches of a program
KEPT_BYTES = 1 << 31  # of copies of arrays
NOT_COUNTED: dict[str, Any] = {"compiled_counters": None, "compiled": {"reason": "It did not run."}}
IN_CUDA_CPP = "It is CUDA C++; only Numba kernels are counted as compiled."
TOO_LATE = "The program made too many launches to count them as compiled; count fewer at a time."


class CompiledLaunches:
    """Counts the launches of a program as compiled code."""

    def __init__(self) -> None:
        self._waiting: LiveLaunch | None = None  # the launch that started last
        self._launches: list[LiveLaunch | None] = []  # None for one in CUDA C++

    def begin(self, kernel: Any, arguments: tuple[Any, ...], blocks: tuple[int, ...] | None = None) -> None:
        """Describe a launch that starts."""
        from ....tracer.as_compiled.live_job import LiveLaunch

        self.drop()
        self._waiting = LiveLaunch(kernel, arguments, blocks)

    def end(self, trace: Trace) -> None:
        """Keep the launch that started last: it has ended with this trace."""
        from ....tracer.analysis.kernel_structure import is_in_cuda_cpp

        if is_in_cuda_cpp(trace):
            self._launches.append(None)
        elif self._waiting is not None:
            self._launches.append(self._waiting)
            self._waiting = None

    def drop(self) -> None:
        """Forget the launch that started last."""
        if self._waiting is not None:
            self._waiting.discard()
            self._waiting = None

    def counted(self) -> list[CompiledCounters]:
        """Count all launches, in order."""
        from ....tracer.as_compiled.client import CompiledCounting
        from ....tracer.as_compiled.job import CompiledCounters
        from ....tracer.storage.folders import cache_folder

        self.drop()
        counting = CompiledCounting(cache_folder() / "as-compiled")
        end = time.monotonic() + SECONDS
        answers = []
        try:
            for launch in self._launches:
                if launch is None:
                    answers.append(CompiledCounters(reason=IN_CUDA_CPP))
                    continue
                if launch.job is None:
                    answer = CompiledCounters(reason=launch.reason)
                elif time.monotonic() > end:
                    answer = counting.cached(launch.job) or CompiledCounters(reason=TOO_LATE)
                else:
                    answer = counting.count(launch.job)
                launch.discard()
                answers.append(answer)
        finally:
            counting.close()
        return answers


class CheckedLaunches:
    """The launches of a checked program: what each asked of memory, as written and as compiled."""

    def __init__(self) -> None:
        self._compiled = CompiledLaunches()
        self._entries: list[dict[str, Any]] = []

    def begin(self, kernel: Any, arguments: tuple[Any, ...], blocks: tuple[int, ...] | None) -> None:
        """Describe a launch as it begins."""
        self._compiled.begin(kernel, arguments, blocks)

    def take(self, trace: Trace) -> None:
        """Add the launch that has ended."""
        from ....tracer.analysis.counters import counters_of, totals_by_line
        from ....tracer.analysis.loop_rounds import are_rounds_unknown
        from ....tracer.analysis.requests import requests_of

        self._compiled.end(trace)
        requests = requests_of(trace)
        entry = {
            "launch": len(self._entries), "kernel": trace.kernel, "grid": list(trace.grid),
            "block": list(trace.block_dim), "counters": counters_of(trace, requests).total,
            "lines": _line_data(totals_by_line(trace, requests)), "part": trace.is_part,
            "estimated": are_rounds_unknown(trace),
        }  # fmt: skip
        self._entries.append(entry)

    def refuse(self, kernel: str) -> None:
        """Add a launch that Numba refuses."""
        self._compiled.drop()
        self._entries.append({"launch": len(self._entries), "kernel": kernel, "counters": None} | NOT_COUNTED)

    def counted(self) -> list[dict[str, Any]]:
        """Count all launches as compiled; return their entries."""
        from ....tracer.as_compiled.line_counters import compiled_by_line

        answers = iter(self._compiled.counted())
        for entry in self._entries:
            if "compiled" in entry:
                continue
            answer = next(answers, None)
            entry |= NOT_COUNTED if answer is None else compiled_data(answer)
            entry["compiled_lines"] = _line_data(compiled_by_line(answer)) if answer else []
        return self._entries


def _line_data(lines: Mapping[tuple[str, int], Mapping[str, int]]) -> list[dict[str, Any]]:
    return [
        {"file": file, "line": line, "counters": counters}
        for (file, line), counters in lines.items()
        if line and counters
    ]


def compiled_data(answer: CompiledCounters) -> dict[str, Any]:
    """Convert compiled counters to plain data."""
    compiled: dict[str, Any] = {"compiler": answer.compiler, "notes": list(answer.notes)}
    if answer.reason:
        compiled = {"reason": answer.reason}
    if answer.at_least:
        compiled["at_least"] = list(answer.at_least)
    if answer.registers is not None:
        compiled |= {"registers": answer.registers, "spills": answer.spills}
    return {"compiled_counters": dict(answer.counters) if not answer.reason else None, "compiled": compiled}

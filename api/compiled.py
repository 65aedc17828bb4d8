"""The compiled counters of a traced launch."""

from __future__ import annotations

from functools import cache

from ..tracer.as_compiled.client import CompiledCounting
from ..tracer.as_compiled.job import CompiledCounters
from ..tracer.as_compiled.launch_job import job_of
from ..tracer.model.launch import decode
from ..tracer.model.trace import Trace
from ..tracer.storage.folders import cache_folder
from ..tracer.type_inference.question import Question
from .errors import TilescopeError


@cache
def _shared_counting() -> CompiledCounting:
    return CompiledCounting(cache_folder() / "as-compiled")


def compiled_counters_of(trace: Trace, question: Question | None) -> CompiledCounters:
    """Count a launch as compiled code; raises TilescopeError if that is not possible."""
    try:
        job = job_of(decode(trace.launch), trace, cache_folder() / "as-compiled" / "inputs", question)
    except OSError as error:
        raise TilescopeError(f"The inputs of {trace.kernel} can't be stored: {error.strerror}.") from error
    counters = CompiledCounters(reason=job) if isinstance(job, str) else _shared_counting().count(job)
    if counters.reason:
        raise TilescopeError(f"{trace.kernel} has no compiled counters: {counters.reason}")
    return counters

"""The counters of sessions as compiled: counted when they are first asked for, and kept on disk."""

from __future__ import annotations

from functools import cache

from ...tracer.as_compiled.client import CompiledCounting, is_final
from ...tracer.as_compiled.job import CompiledCounters
from ...tracer.as_compiled.of_launch import job_of
from ...tracer.storage.folders import cache_folder
from ..model.session import Session


@cache
def counting() -> CompiledCounting:
    """Return what counts in this process: one for all, which lives as long."""
    return CompiledCounting(cache_folder() / "as-compiled")


def compiled_counters_of(session: Session) -> CompiledCounters:
    """Return a session's counters as compiled, or the reason why there are none; waits for them, in any thread."""
    known = session.compiled
    if known is None:
        known = _counted(session)
        if is_final(known):
            session.add_compiled(known)
    return known


def _counted(session: Session) -> CompiledCounters:
    try:
        job = job_of(session.launch, session.trace, cache_folder() / "as-compiled" / "inputs")
    except OSError as error:
        return CompiledCounters(reason=f"Its inputs can't be kept: {error.strerror}.")
    return CompiledCounters(reason=job) if isinstance(job, str) else counting().count(job)

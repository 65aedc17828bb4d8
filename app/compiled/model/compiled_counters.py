"""The compiled counters of sessions: counted on first use, and stored on disk."""

from __future__ import annotations

from functools import cache

from ....tracer.as_compiled.client import CompiledCounting, is_final
from ....tracer.as_compiled.job import CompiledCounters
from ....tracer.as_compiled.launch_job import job_of
from ....tracer.storage.folders import cache_folder
from ...model.session import Session


@cache
def shared_counting() -> CompiledCounting:
    """Return the process's only counting client, which lives as long as the process."""
    return CompiledCounting(cache_folder() / "as-compiled")


def compiled_counters_of(session: Session) -> CompiledCounters:
    """Count a session as compiled code, or return the reason why that fails; waits, so call it in any thread."""
    counters = session.compiled
    if counters is None:
        counters = _count(session)
        if is_final(counters):
            session.add_compiled(counters)
    return counters


def _count(session: Session) -> CompiledCounters:
    try:
        job = job_of(session.launch, session.trace, cache_folder() / "as-compiled" / "inputs")
    except OSError as error:
        return CompiledCounters(reason=f"Its inputs can't be stored: {error.strerror}.")
    return CompiledCounters(reason=job) if isinstance(job, str) else shared_counting().count(job)

"""The worker process that traces for this process: started with the first launch, ended at exit, unused in forks."""

from __future__ import annotations

import os
import sys
import threading

from ..app.cli.common.text_output import print_error
from ..tracer.calls.call import CallError
from ..tracer.calls.describe_call import DescribedCall
from ..tracer.processes.process_client import RunCancelledError
from ..tracer.run.long_launch import LongLaunches
from ..tracer.run.worker_client import Worker, WorkerError
from .errors import TilescopeError
from .kept_traces import KeptTrace

_lock, _one_at_a_time = threading.Lock(), threading.Lock()
_workers: list[Worker] = []  # at most one


def shared_worker() -> Worker:
    """Return the worker process, which is started on first use."""
    with _lock:
        if not _workers:
            _workers.append(Worker())
        return _workers[0]


def trace_call(call: DescribedCall, patience: float) -> KeptTrace:
    """Trace a call, which leaves the results in its arguments; raises TilescopeError.

    patience: seconds of CPU time that a block may take.
    """
    try:
        with _one_at_a_time, _long_launches.watch(call.call.functions[0].name) as launch:
            return KeptTrace(shared_worker().run_call(call, launch.report, _print, patience))
    except (CallError, WorkerError) as error:
        raise TilescopeError(str(error)) from error
    except RunCancelledError as error:
        raise TilescopeError(
            "The tracing process has ended, because this process is about to end."
        ) from error


_long_launches = LongLaunches(print_error)  # reports the progress of long launches


def _print(text: str) -> None:
    """Write the output of a kernel to this process's standard output."""
    if sys.stdout is not None:
        sys.stdout.write(text)


def _forget_in_child() -> None:
    global _lock, _one_at_a_time
    _lock, _one_at_a_time = threading.Lock(), threading.Lock()
    for worker in _workers:
        worker.detach_in_child()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)

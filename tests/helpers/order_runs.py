"""Runs of launches in explicit orders, in this process."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from launching import Array, launch
from racing_kernels import source_of
from tilescope.tracer.model.launch import EngineName, Launch, Schedule
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.recording.kernel_loader import LoadError
from tilescope.tracer.run.engine import run as run_engine
from tilescope.tracer.run.worker_client import WorkerError
from tilescope.tracer.simulator.numba_patch import install

install()


def run(planned: Launch) -> Trace:
    """Trace a launch as the worker does."""
    try:
        return run_engine(planned, lambda done, total: None)
    except LoadError as error:
        raise WorkerError(str(error)) from error


def run_order(planned: Launch, order: str, engine: EngineName = "compiled") -> Trace:
    """Trace a launch in an order."""
    return run(replace(planned, schedule=Schedule("order", 0, order), engine=engine))


def racing_launch(folder: Path, body: str, threads: int) -> Launch:
    """Return the launch of a kernel of `racing_kernels`."""
    arrays = (Array((8,), "int64", "arange"), Array((8,), "int64"))
    return launch(folder, source_of(body), arrays, block=(threads, 1, 1), engine="compiled")

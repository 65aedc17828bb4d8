"""Sessions for tests of views: small launches, traced in this process, and a Qt application to draw them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from launching import Array, trace
from launching import launch as launch_text
from tilescope.app.model.session import Session, build_session, scenario_of
from tilescope.kernels.scenarios.catalogue import Scenario, find
from tilescope.tracer.model.launch import decode, is_cuda_cpp_launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run.engine import run as run_any
from tilescope.tracer.simulator.numba_patch import run as run_simulated

# A kernel that is in no catalogue: warps differ, some lanes stay idle, blocks and threads have one dimension.
UNEVEN = """
@cuda.jit(device=True)
def scaled(a, i):
    return a[i] * 2

@cuda.jit
def kernel(a, out):
    line = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < 32:
        for k in range(5):
            line[t] = scaled(a, i)
    cuda.syncthreads()
    if t % 2:
        out[i] = line[t % 32]
        cuda.atomic.add(out, 0, 1)
"""

# A kernel that writes nan, reads slices, and leaves much as nobody wrote it.
ODD = """
@cuda.jit
def kernel(a, b, c):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        a[t, 2] += math.nan if t == 6 else b[t, 1, 2]
    c[t] = a[t, 1]
"""


@cache
def application() -> QApplication:
    """Return the one application of this process."""
    application = QApplication.instance()
    return application if isinstance(application, QApplication) else QApplication([])


@cache
def matmul(name: str = "matmul-tiled", blocks: tuple[int, ...] | None = None, **values: Any) -> Session:
    """Return a session of a scenario, or of its Numba twin where there is no C++ compiler."""
    return scenario_session(find(name), blocks, **values)


def scenario_session(scenario: Scenario, blocks: tuple[int, ...] | None = None, **values: Any) -> Session:
    """Return a session of a scenario of the catalogue, or of a Numba twin."""
    described = launch_of(scenario, values, blocks=blocks)
    run = run_any if is_cuda_cpp_launch(described) else run_simulated
    trace = run(described, lambda done, total: None)
    launch = decode(trace.launch)
    return build_session(launch, trace, scenario_of(launch))


def uneven_session(folder: Path) -> Session:
    """Return a session of a kernel outside the catalogue: 3 blocks of 64 threads."""
    arrays = (Array((192,), fill="arange"), Array((192,), fill="zeros"))
    options: dict[str, Any] = {"arguments": arrays, "grid": (3, 1, 1), "block": (64, 1, 1), "resident": 1}
    launch = launch_text(folder, UNEVEN, **options)
    traced = trace(folder, UNEVEN, **options)
    return build_session(decode(traced.launch) if traced.launch else launch, traced, None)


def odd_session(folder: Path) -> Session:
    """Return a session of a kernel on arrays of two, three and one dimensions."""
    arrays = (Array((40, 4), fill="arange"), Array((40, 2, 3)), Array((90,), fill="empty"))
    options: dict[str, Any] = {"arguments": arrays, "block": (40, 1, 1)}
    return build_session(launch_text(folder, ODD, **options), trace(folder, ODD, **options), None)


def grab_image(widget: QWidget) -> QImage:
    """Grab a widget's image."""
    return widget.grab().toImage()

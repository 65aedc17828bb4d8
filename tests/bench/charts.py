"""Print, as JSON, what charts of measured times cost, in milliseconds until all is painted, at 1600 x 900.

first: the first chart of a process, with the import of pyqtgraph. later: others. zoom: frames, as a wheel makes them.
million: a chart with a million samples, and its frames. svg, pdf, png: files.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

SIZE = (1600, 900)
ZOOMS = 100
SAMPLES = 1_000_000


def milliseconds(act: Callable[[], object]) -> float:
    """Return the milliseconds of a call."""
    begin = time.perf_counter()
    act()
    return (time.perf_counter() - begin) * 1000


def frames(chart: Any) -> list[float]:
    """Return the milliseconds of each frame of a zoom into a chart, and out again."""

    def frame(factor: float) -> Callable[[], None]:
        def draw() -> None:
            chart.zoom(factor)
            chart.viewport().repaint()

        return draw

    half = ZOOMS // 2
    return [milliseconds(frame(1.05 if n < half else 1 / 1.05)) for n in range(2 * half)]


def million() -> Any:
    """Return a measurement with a million samples of one kernel."""
    from msgspec.structs import replace

    from tilescope.app.timings.model.sources import Source
    from tilescope.tracer.hardware.times.measurement import load, recorded_measurements

    path = recorded_measurements()[0]
    measurement = load(path)
    times = tuple(np.random.default_rng(1).lognormal(5.7, 0.2, SAMPLES).tolist())
    rows = [r for r in measurement.rows if r.scenario == "matmul-tiled" and r.parameters["m"] == 1024][:1]
    row = replace(rows[0], timings=(replace(rows[0].timing("kernel-warm"), microseconds=times),))
    return Source(path, replace(measurement, rows=(row,)), recorded=True)


def main() -> dict[str, Any]:
    """Measure everything."""
    from tilescope.app.window.start import application, load_qt

    load_qt()  # as the window does
    application()
    from PySide6.QtWidgets import QApplication

    from tilescope.app.timings.model.build import build
    from tilescope.app.timings.model.choice import Choice
    from tilescope.app.timings.model.sources import default_sources, sources
    from tilescope.app.widgets.theme import Theme

    recorded, theme = default_sources(sources()[0]), Theme()
    shown: list[Any] = []

    def show(figure: Any) -> Callable[[], None]:
        def draw() -> None:
            from tilescope.app.timings.drawing.view import ChartView

            if not shown:
                shown.append(ChartView(theme))
                shown[0].resize(*SIZE)
                shown[0].show()
            shown[0].show_figure(figure)
            QApplication.processEvents()  # exposes the window at first
            shown[0].viewport().repaint()

        return draw

    kinds = ("scaling", "bars", "roofline", "cublas", "calls")
    first, *later = (milliseconds(show(build(recorded, Choice(kind)))) for kind in kinds)
    show(build(recorded, Choice("roofline")))()
    zoom = frames(shown[0])
    figure = build([million()], Choice("bars"))
    results = {"first": first, "later": later, "zoom": zoom, "million": milliseconds(show(figure))}
    results["million zoom"] = frames(shown[0])

    from tilescope.app.timings.export import Page, write_figure

    figure = build(recorded, Choice("roofline"))
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("svg", "pdf", "png"):
            path = Path(folder) / f"chart.{ending}"
            write = partial(write_figure, figure, path, Page(SIZE))
            results[ending] = min(milliseconds(write) for _ in range(3))
    return results


if __name__ == "__main__":
    json.dump(main(), sys.stdout)

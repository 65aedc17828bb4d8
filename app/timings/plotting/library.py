"""pyqtgraph, imported without NVIDIA's bindings: only its video widget uses them, and they take 40 of 220 ms."""

from __future__ import annotations

import sys

BINDINGS = "cuda.bindings"
_is_new = BINDINGS not in sys.modules
if _is_new:
    sys.modules[BINDINGS] = None  # type: ignore[assignment]  # Python's way to make an import fail

import pyqtgraph as pg  # noqa: E402
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols, drawSymbol  # noqa: E402

if _is_new:
    del sys.modules[BINDINGS]

__all__ = ["Symbols", "drawSymbol", "pg"]

"""pyqtgraph, imported in half of its time: without the parts not used here, and without copies of Qt's names."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

USED_WIDGETS = {"FileDialog", "GraphicsView"}
UNUSED_ITEMS = {
    "BoxplotItem", "ColorBarItem", "CurvePoint", "DateAxisItem", "FillBetweenItem", "GradientEditorItem",
    "GradientLegend", "GraphItem", "GridItem", "HistogramLUTItem", "IsocurveItem", "LinearRegionItem", "PColorMeshItem",
    "ROI", "ScaleBar", "TargetItem", "VTickGroup",
}  # fmt: skip
QT = "pyqtgraph.Qt"
MIRRORS = {f"{QT}.{name}": f"PySide6.{name}" for name in ("QtCore", "QtGui", "QtWidgets")}


class _Unused(ModuleType):
    """An empty module. pyqtgraph imports names from it only to export them."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class _Mirror(ModuleType):
    """The names of a module of PySide6, looked up when they are used: PySide6 makes classes at their first look-up."""

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(MIRRORS[self.__name__]), name)
        setattr(self, name, value)
        return value


class _WithoutCopies(SourceFileLoader):
    """Loads `pyqtgraph.Qt`, whose loops over `dir(module)` copy all names of Qt."""

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["dir"] = lambda _: ()
        super().exec_module(module)


class _ShortForms(MetaPathFinder, Loader):
    """Replaces modules of pyqtgraph by those above."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a replaced module; None for all others."""
        if name == QT and (spec := PathFinder.find_spec(name, path)) and spec.origin:
            spec.loader = _WithoutCopies(name, spec.origin)
            return spec
        return ModuleSpec(name, self) if name in MIRRORS or is_unused(name) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module without contents."""
        return (_Mirror if spec.name in MIRRORS else _Unused)(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


def is_unused(name: str) -> bool:
    """Return True for a module of pyqtgraph that charts don't need. The video widget needs NVIDIA's bindings."""
    package, _, module = name.rpartition(".")
    if package == "pyqtgraph.widgets":
        return module not in USED_WIDGETS
    return name == "pyqtgraph.imageview" or (package == "pyqtgraph.graphicsItems" and module in UNUSED_ITEMS)


_finder = _ShortForms()
sys.meta_path.insert(0, _finder)
try:
    import pyqtgraph as pg
    from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols, drawSymbol
finally:
    sys.meta_path.remove(_finder)
    for _name in [name for name in sys.modules if is_unused(name) and isinstance(sys.modules[name], _Unused)]:
        del sys.modules[_name]  # so that an import elsewhere finds the complete module

__all__ = ["Symbols", "drawSymbol", "pg"]

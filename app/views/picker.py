"""Spin boxes that name one place in a grid or in a block."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QWidget

from ...tracer.trace import Dim3, unravel


class Picker(QWidget):
    """One spin box per used dimension; `picked` gives the linear number that the user chose."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dim: Dim3 = (1, 1, 1)
        self.boxes = [QSpinBox(self) for _ in "xyz"]
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for axis, box in zip("xyz", self.boxes, strict=True):
            box.setPrefix(f"{axis} ")
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._changed)
            layout.addWidget(box)
        layout.addStretch()

    def name(self, noun: str) -> None:
        """Say what is chosen here."""
        for axis, box in zip("xyz", self.boxes, strict=True):
            box.setAccessibleName(f"{noun} {axis}")
            box.setToolTip(f"{noun} {axis}")

    def set_dim(self, dim: Dim3) -> None:
        """Take the size of the grid or block; dimensions of length 1 beyond the first are not asked for."""
        self._dim = dim
        for axis, box in enumerate(self.boxes):
            with QSignalBlocker(box):
                box.setRange(0, dim[axis] - 1)
            box.setVisible(axis == 0 or max(dim[axis:]) > 1)

    def show_number(self, number: int) -> None:
        """Show a linear number, x fastest."""
        for box, place in zip(self.boxes, unravel(number, self._dim), strict=True):
            with QSignalBlocker(box):
                box.setValue(place)

    def _changed(self) -> None:
        x, y, z = (box.value() for box in self.boxes)
        self.picked.emit(x + self._dim[0] * (y + self._dim[1] * z))

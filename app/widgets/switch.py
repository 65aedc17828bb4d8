"""A switch between the pictures of a pane: flat buttons side by side, one of them checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from ..model.nothing import nothing
from .controls import button


class Switch(QWidget):
    """Exclusive buttons. chosen: the name that the user chose. names: the text of each button, by name."""

    def __init__(self, names: Mapping[str, str], tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chosen: Callable[[str], object] = nothing
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.group = QButtonGroup(self)
        self.buttons = {name: button(text, tip, text=text) for name, text in names.items()}
        for name, segment in self.buttons.items():
            segment.setObjectName("segment")
            segment.setCheckable(True)
            segment.clicked.connect(partial(self._choose, name))
            self.group.addButton(segment)
            row.addWidget(segment)
        row.addStretch()

    def show_choice(self, name: str) -> None:
        """Check a button without emitting `chosen`."""
        self.buttons[name].setChecked(True)

    def _choose(self, name: str, _checked: bool = False) -> None:
        self.chosen(name)

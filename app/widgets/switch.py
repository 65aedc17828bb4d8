"""A switch between the pictures of a pane: flat buttons beside each other, one of them down."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from .controls import button


class Switch(QWidget):
    """`chosen` tells the name that the user chose; `names` says what stands on the button of each."""

    chosen = Signal(str)

    def __init__(self, names: Mapping[str, str], tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.group = QButtonGroup(self)
        self.buttons = {name: button(text, tip, text=text) for name, text in names.items()}
        for name, one in self.buttons.items():
            one.setObjectName("segment")
            one.setCheckable(True)
            one.clicked.connect(partial(self._choose, name))
            self.group.addButton(one)
            row.addWidget(one)
        row.addStretch()

    def show_choice(self, name: str) -> None:
        """Show which is chosen, without telling anybody."""
        self.buttons[name].setChecked(True)

    def _choose(self, name: str, _checked: bool = False) -> None:
        self.chosen.emit(name)

"""The launch options: the order of the threads, and a popup of seed, resident blocks, blocks to run and files."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QWidget

from ...model.nothing import nothing
from ...model.setup_launch import SCHEDULES
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme, check_box_palette, check_box_sheet
from .fields import ChoiceField, NumberField

NUMBERS = (("seed", "Seed", 6), ("resident", "Resident blocks", 6), ("blocks", "Blocks to run", 16))


class LaunchOptions(QFrame):
    """The fields of options that every launch has; the names are those of `option_texts`.

    closed: the popup was hidden.
    """

    def __init__(
        self, touched: Callable[[str, bool], None], left: Callable[[], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.closed: Callable[[], object] = nothing
        self.setObjectName("panel")
        self.setWindowFlag(self.windowType().Popup)
        self.schedule = ChoiceField("Order of the threads")  # the toolbar shows it
        self._offered = [(kind, kind) for kind in SCHEDULES]
        self.schedule.offer(self._offered, SCHEDULES[0])
        self.schedule.picked = lambda _: touched("schedule", True)
        self.form = QFormLayout(self)
        self.numbers = {name: NumberField(label, digits) for name, label, digits in NUMBERS}
        self.numbers["blocks"].takes_spaces = True
        for name, label, _ in NUMBERS:
            self.numbers[name].left = self.hide
            self.numbers[name].textEdited.connect(lambda _, name=name: touched(name, False))
            self.numbers[name].editingFinished.connect(left)
            self.form.addRow(PlainLabel(label), self.numbers[name])
        self.same = QCheckBox("Apply changes to both panes")
        self.same.setAccessibleName("Apply changes to both panes")
        self.form.addRow(self.same)

    def first_field(self) -> QWidget:
        """Return the field of the first row."""
        item = self.form.itemAt(0, QFormLayout.ItemRole.FieldRole)
        return (item.widget() if item is not None else None) or self.same

    def hideEvent(self, event: QHideEvent) -> None:
        """Report that the popup was closed."""
        super().hideEvent(event)
        self.closed()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size to the check box, which the application's style sheet does not style."""
        self.same.setPalette(check_box_palette(theme))
        self.same.setStyleSheet(check_box_sheet("QCheckBox", theme))

    def offer_schedules(self, choices: list[tuple[str, str]]) -> None:
        """Offer these schedules, (text, kind) each, unless they are offered already; keep the choice."""
        if choices != self._offered:
            self._offered = choices
            self.schedule.offer(choices, self.schedule.text())

    def show_shared(self, shared: bool, several: bool) -> None:
        """Update the check box without emitting a signal; disable it with a single pane."""
        with QSignalBlocker(self.same):
            self.same.setChecked(shared)
        self.same.setEnabled(several)

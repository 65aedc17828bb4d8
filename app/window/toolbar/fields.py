"""The fields of a launch: one control per parameter and option, each with a text, checked by what it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QWidget

from ....kernels.scenarios.catalogue import Parameter
from ...model.visible_text import visible
from ...widgets.controls import Chip, Combo, Entry, button, mark
from ...widgets.plain_text import plain_tip
from .hand import Handle, ParameterChip, hint_of


class Field(Protocol):
    """What every field can: give and take its text, and show that it is wrong."""

    def text(self) -> str: ...
    def put(self, text: str) -> None: ...
    def mark(self, sentence: str) -> None: ...


class ChoiceField(Combo):
    """A field with a few words to choose from."""

    hint = ""  # its tip while it is right

    def text(self) -> str:
        """Return the chosen word."""
        return str(self.currentData())

    def put(self, text: str) -> None:
        """Choose a word."""
        self.choose(text)

    def mark(self, sentence: str) -> None:
        """Show the field as wrong, or as right again."""
        self.setToolTip(plain_tip(sentence or self.hint))
        mark(self, "invalid", bool(sentence))


class NumberField(Entry):
    """A field for a number, or for several where `takes_spaces`; Space plays, and Return leaves it.

    left: the user is done here.
    """

    left = Signal()
    hint = ""  # its tip while it is right
    takes_spaces = False

    def event(self, event: QEvent) -> bool:
        """Leave Space to the window, whose shortcut plays."""
        if event.type() == QEvent.Type.ShortcutOverride and self._is_for_window(event):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Type; Return asks for what was typed and leaves the field unless that is refused."""
        if self._is_for_window(event):
            event.ignore()
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            if not self.property("invalid"):
                self.left.emit()

    def _is_for_window(self, event: QEvent) -> bool:
        return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space and not self.takes_spaces

    def mark(self, sentence: str) -> None:
        """Show the field as wrong, or as right again."""
        self.setToolTip(plain_tip(sentence or self.hint))
        mark(self, "invalid", bool(sentence))

    def put(self, text: str) -> None:
        """Show a text, unless the user has just typed the same."""
        if text != self.text():
            self.setText(text)


class FileField(QWidget):
    """A field with the path of a file, chosen in a dialog."""

    picked = Signal()

    def __init__(self, name: str, pattern: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self.pattern, self._path = name, pattern, ""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self.choose: QPushButton = button(name, name, run=self._ask)
        self.clear: QPushButton = button(f"{name}: none", "Use no file", "close", run=lambda: self._take(""))
        self.clear.setObjectName("flat")
        row.addWidget(self.choose)
        row.addWidget(self.clear)
        self.put("")

    def text(self) -> str:
        """Return the path, or ""."""
        return self._path

    def put(self, text: str) -> None:
        """Show a path."""
        self._path = text
        self.choose.setText(visible(Path(text).name).replace("&", "&&") or "choose…")
        self.choose.setToolTip(plain_tip(text or self.name))
        self.clear.setVisible(bool(text))

    def mark(self, sentence: str) -> None:
        """Show the field as wrong, or as right again."""
        self.choose.setToolTip(plain_tip(sentence or self._path))
        mark(self.choose, "invalid", bool(sentence))

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.name, self._path, self.pattern)
        if path:
            self._take(path)

    def _take(self, path: str) -> None:
        self.put(path)
        self.picked.emit()


def field_for(parameter: Parameter, touched: Callable[[bool], None], left: Callable[[], None]) -> QWidget:
    """Return the control of a parameter.

    It calls `touched` at every key with False and where a choice is made with True, `left` when the typing is over.
    """
    if parameter.file:
        file = FileField(parameter.label, "NumPy arrays (*.npy)")
        file.picked.connect(lambda: touched(True))
        return file
    if parameter.choices:
        choice = ChoiceField(parameter.label)
        choice.hint = hint_of(parameter)
        choice.offer([(str(word), str(word)) for word in parameter.choices], str(parameter.default))
        choice.picked.connect(lambda _: touched(True))
        return choice
    number = NumberField(parameter.label, len(str(parameter.maximum)))
    number.hint = hint_of(parameter)
    number.textEdited.connect(lambda _: touched(False))
    number.editingFinished.connect(left)
    return number


def handle_for(parameter: Parameter, field: QWidget, owner: str = "") -> Handle:
    """Return what a parameter's field is dragged by: its name, with the pane that alone has it."""
    label = f"{parameter.label}, {owner}" if owner else parameter.label
    handle = Handle(label, field, hint_of(parameter))
    handle.setAccessibleName(f"Drag to change {label}")
    return handle


def parameter_chips(
    parameters: Iterable[Parameter], fields: dict[str, QWidget], owners: Mapping[str, str]
) -> list[Chip]:
    """Return the parameters' fields in frames: neighbouring numbers with short names, as M K N, share one.

    owners: by name, the pane that alone has the parameter, which is then said.
    """
    made: list[Chip] = []
    for (_, owner), group in groupby(parameters, lambda p: (_alone(p), owners.get(p.name, ""))):
        members = list(group)
        whose = owner if len(members) == 1 else ""  # else the frame says it
        made.append(ParameterChip([handle_for(p, fields[p.name], whose) for p in members], owner))
    return made


def _alone(parameter: Parameter) -> str:
    """Return what parameters in one frame have in common: their name, or "" for all with short names."""
    return parameter.name if parameter.choices or parameter.file or len(parameter.label) > 2 else ""


def merged_parameters(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Return each parameter once, by its name, with the choices of all of that name."""
    found: dict[str, Parameter] = {}
    for parameter in parameters:
        other = found.get(parameter.name, parameter)
        choices = tuple(dict.fromkeys(other.choices + parameter.choices))
        free = not (other.choices and parameter.choices)
        top = max(other.maximum, parameter.maximum)
        found[parameter.name] = replace(other, choices=() if free else choices, maximum=top)
    return list(found.values())

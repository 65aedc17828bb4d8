"""The fields of a launch: one control with a text for each parameter and option."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QWidget

from ....kernels.scenarios.catalogue import Parameter
from ...model.nothing import nothing
from ...model.visible_text import escape_controls
from ...widgets.controls import Chip, Combo, Entry, button, mark
from ...widgets.plain_text import plain_tip
from .drag_gesture import Handle, ParameterChip, hint_of


class Field(Protocol):
    """A control with a text that can be marked as invalid."""

    def text(self) -> str: ...
    def put(self, text: str) -> None: ...
    def mark(self, sentence: str) -> None: ...


class ChoiceField(Combo):
    """A field with a list of values."""

    hint = ""  # its tooltip while it is valid

    def text(self) -> str:
        """Return the chosen value."""
        return str(self.currentData())

    def put(self, text: str) -> None:
        """Choose a value."""
        self.choose(text)

    def mark(self, sentence: str) -> None:
        """Mark the field as invalid with a sentence, or as valid with ""."""
        self.setToolTip(plain_tip(sentence or self.hint))
        mark(self, "invalid", bool(sentence))


class NumberField(Entry):
    """A field for a number, or for several if `takes_spaces`; Space plays, and Return leaves the field.

    left: the user has finished.
    """

    hint = ""  # its tooltip while it is valid
    takes_spaces = False

    def __init__(self, name: str, digits: int) -> None:
        super().__init__(name, digits)
        self.left: Callable[[], object] = nothing

    def event(self, event: QEvent) -> bool:
        """Pass Space to the window, whose shortcut plays."""
        if event.type() == QEvent.Type.ShortcutOverride and self._is_for_window(event):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Type; Return applies the text and leaves the field if the text is valid."""
        if self._is_for_window(event):
            event.ignore()
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            if not self.property("invalid"):
                self.left()

    def _is_for_window(self, event: QEvent) -> bool:
        return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space and not self.takes_spaces

    def mark(self, sentence: str) -> None:
        """Mark the field as invalid with a sentence, or as valid with ""."""
        self.setToolTip(plain_tip(sentence or self.hint))
        mark(self, "invalid", bool(sentence))

    def put(self, text: str) -> None:
        """Show a text, unless it is shown already."""
        if text != self.text():
            self.setText(text)


class FileField(QWidget):
    """A field with the path of a file, chosen in a dialog."""

    def __init__(self, name: str, pattern: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picked: Callable[[], object] = nothing
        self.name, self.pattern, self._path = name, pattern, ""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self.choose: QPushButton = button(name, name, run=self._ask)
        self.clear: QPushButton = button(
            f"{name}: none", "Remove the file", "close", run=lambda: self._take("")
        )
        self.clear.setObjectName("flat")
        row.addWidget(self.choose)
        row.addWidget(self.clear)
        self.put("")

    def text(self) -> str:
        """Return the path, "" for none."""
        return self._path

    def put(self, text: str) -> None:
        """Show a path."""
        self._path = text
        self.choose.setText(escape_controls(Path(text).name).replace("&", "&&") or "choose…")
        self.choose.setToolTip(plain_tip(text or self.name))
        self.clear.setVisible(bool(text))

    def mark(self, sentence: str) -> None:
        """Mark the field as invalid with a sentence, or as valid with ""."""
        self.choose.setToolTip(plain_tip(sentence or self._path))
        mark(self.choose, "invalid", bool(sentence))

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.name, self._path, self.pattern)
        if path:
            self._take(path)

    def _take(self, path: str) -> None:
        self.put(path)
        self.picked()


def field_for(parameter: Parameter, touched: Callable[[bool], None], left: Callable[[], None]) -> QWidget:
    """Create the control of a parameter.

    It calls `touched(False)` at every key, `touched(True)` after a choice, and `left` when the typing is finished.
    """
    if parameter.file:
        file = FileField(parameter.label, "NumPy arrays (*.npy)")
        file.picked = lambda: touched(True)
        return file
    if parameter.choices:
        choice = ChoiceField(parameter.label)
        choice.hint = hint_of(parameter)
        choice.offer([(str(word), str(word)) for word in parameter.choices], str(parameter.default))
        choice.picked = lambda _: touched(True)
        return choice
    number = NumberField(parameter.label, len(str(parameter.maximum)))
    number.hint = hint_of(parameter)
    number.textEdited.connect(lambda _: touched(False))
    number.editingFinished.connect(left)
    return number


def handle_for(parameter: Parameter, field: QWidget, owner: str = "") -> Handle:
    """Create the drag handle of a parameter's field: its name, and the only pane that has it."""
    label = f"{parameter.label}, {owner}" if owner else parameter.label
    handle = Handle(label, field, hint_of(parameter))
    handle.setAccessibleName(f"Drag to change {label}")
    return handle


def parameter_chips(
    parameters: Iterable[Parameter], fields: dict[str, QWidget], owners: Mapping[str, str]
) -> list[Chip]:
    """Build frames for the parameters' fields; neighbouring numbers with short names, such as M K N, share one.

    owners: by name, the only pane that has the parameter.
    """
    chips: list[Chip] = []
    for (_, owner), group in groupby(parameters, lambda p: (_group_key(p), owners.get(p.name, ""))):
        members = list(group)
        label_owner = owner if len(members) == 1 else ""  # otherwise the frame shows it
        chips.append(ParameterChip([handle_for(p, fields[p.name], label_owner) for p in members], owner))
    return chips


def _group_key(parameter: Parameter) -> str:
    """Return the key that parameters in one frame share: their name, or "" for all with short names."""
    return parameter.name if parameter.choices or parameter.file or len(parameter.label) > 2 else ""


def merged_parameters(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Merge parameters with the same name, their choices, and their labels, from left to right."""
    merged: dict[str, Parameter] = {}
    for parameter in parameters:
        other = merged.get(parameter.name, parameter)
        choices = tuple(dict.fromkeys(other.choices + parameter.choices))
        free = not (other.choices and parameter.choices)
        top = max(other.maximum, parameter.maximum)
        label = " / ".join(dict.fromkeys((other.label, parameter.label)))
        merged[parameter.name] = replace(other, label=label, choices=() if free else choices, maximum=top)
    return list(merged.values())

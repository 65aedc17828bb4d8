"""Parameters by hand: a label that is dragged, the wheel and keys over a field, and the values that they lead to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from ....kernels.scenarios.catalogue import Parameter
from ...widgets.controls import Chip, mark, open_field
from ...widgets.plain_text import PlainLabel, plain_tip
from .steps import Track, grows_downwards, is_coarse

NOTCH = 120  # of a wheel, in Qt's eighths of a degree
PAGE = 4  # steps of PageUp and PageDown
KEYS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: PAGE, Qt.Key.Key_PageDown: -PAGE}
COARSE, FINE = 16, 8  # pixels of a drag for a step: of few values, and of many
NEAR = 120  # milliseconds for which somebody stays at a parameter who does not only pass it
REST = 400  # milliseconds without wheel or key after which a hand has come to rest
HINT = "Drag the name, turn the wheel, or press Up and Down; with Shift in steps of 1."
HINT_WORDS = "Drag the name, turn the wheel, or press Up and Down."


def hint_of(parameter: Parameter) -> str:
    """Return how a hand changes a parameter, "" for a file."""
    if parameter.file:
        return ""
    if parameter.choices:
        return HINT_WORDS
    return f"{parameter.minimum:,} to {parameter.maximum:,}. {HINT}"


class Handle(PlainLabel):
    """The name of a field, which is dragged to the right and to the left; a click opens the field.

    neared: the pointer comes. grabbed: a drag begins. pulled: (pixels from where it began, whether in fine steps).
    let_go: it is over.
    """

    neared = Signal()
    grabbed = Signal()
    pulled = Signal(int, bool)
    let_go = Signal()

    def __init__(self, text: str, field: QWidget, tip: str) -> None:
        super().__init__(text)
        self.setObjectName("handle")
        self.setBuddy(field)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setToolTip(plain_tip(tip))
        self._pressed_at: float | None = None
        self._dragged = False

    def enterEvent(self, event: QEnterEvent) -> None:
        """Tell that a drag may begin."""
        super().enterEvent(event)
        self.neared.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at, self._dragged = event.globalPosition().x(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pull, once the pointer has moved enough for a drag."""
        if self._pressed_at is None:
            return
        moved = round(event.globalPosition().x() - self._pressed_at)
        if not self._dragged and abs(moved) >= QApplication.startDragDistance() // 2:
            self._dragged = True
            mark(self, "held", True)
            self.grabbed.emit()
        if self._dragged:
            self.pulled.emit(moved, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go; without a drag, open the field."""
        if event.button() != Qt.MouseButton.LeftButton or self._pressed_at is None:
            return
        self._pressed_at = None
        mark(self, "held", False)
        if self._dragged:
            self.let_go.emit()
        else:
            open_field(self.buddy())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Give the wheel to the field."""
        QApplication.sendEvent(self.buddy(), event)


class Stepped(QObject):
    """Reads wheel and keys of a field as steps up and down; an event that means none goes where it would have gone.

    neared: the pointer or the keyboard comes. stepped: (steps up, or down below 0; whether fine ones).
    """

    neared = Signal()
    stepped = Signal(int, bool)

    def __init__(self, field: QWidget, parameter: Parameter) -> None:
        super().__init__(field)
        self.downwards = grows_downwards(parameter)
        self._turned = 0
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: object) -> bool:
        """Take what steps."""
        if isinstance(event, QEvent) and event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self.neared.emit()
        if isinstance(event, QWheelEvent):
            return self._turn(event)
        if isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress:
            return self._press(event)
        return False

    def _turn(self, event: QWheelEvent) -> bool:
        turn = event.angleDelta()
        self._turned += turn.y() or turn.x()  # with Alt or Shift some systems turn it sideways
        notches = int(self._turned / NOTCH)
        self._turned -= notches * NOTCH
        self._step(notches, event.modifiers())
        event.accept()
        return True

    def _press(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        steps = KEYS.get(Qt.Key(event.key()), 0) if held == Qt.KeyboardModifier.NoModifier else 0
        self._step(steps, event.modifiers())
        return bool(steps)

    def _step(self, steps: int, modifiers: Qt.KeyboardModifier) -> None:
        if steps:
            fine = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
            self.stepped.emit(-steps if self.downwards else steps, fine)


class ParameterChip(Chip):
    """The fields of parameters in one frame, each with its handle before it."""

    def __init__(self, handles: list[Handle], owner: str) -> None:
        first, *others = handles
        super().__init__(first, [handle.buddy() for handle in handles])
        self.handles = handles
        for handle in others:
            self.row.insertWidget(self.row.indexOf(handle.buddy()), handle)
        if owner and others:
            whose = PlainLabel(owner)
            whose.setObjectName("muted")
            self.row.addWidget(whose)

    def note(self, field: QWidget, text: str, tip: str) -> None:
        """Say something beside a field; where there is nothing to say, its description is how a hand changes it."""
        super().note(field, text, tip)
        handle = next(handle for handle in self.handles if handle.buddy() is field)
        field.setAccessibleDescription(tip or handle.toolTip())


class Hand(QObject):
    """What moves parameters: one at a time, from the value that it has to those that its scenarios take.

    neared: it has come to a parameter. moved: (name, text) while it moves. rested: it was let go, or has come to rest.
    """

    neared = Signal(object)
    moved = Signal(str, str)
    rested = Signal()

    def __init__(self, track: Callable[[Parameter, bool], Track], parent: QObject) -> None:
        super().__init__(parent)
        self._track = track  # of a parameter, in fine steps or not, from the value that it has
        self._now: Track | None = None
        self._name, self._text = "", ""
        self._fine = False  # the steps of a drag
        self._begin = 0  # the pixels at which they began to be so
        self._is_over = False  # whether what is left of a drag means nothing any more
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.stop)

    def watch(self, parameter: Parameter, field: QWidget, handle: Handle) -> None:
        """Move a parameter by its field and its handle."""
        stepped, near = Stepped(field, parameter), QTimer(field, singleShot=True, interval=NEAR)
        stepped.stepped.connect(partial(self._step, parameter))
        near.timeout.connect(partial(self._tell_of, parameter, (field, handle)))
        for part in (handle, stepped):
            part.neared.connect(near.start)
        handle.grabbed.connect(partial(self._grab, parameter))
        handle.pulled.connect(partial(self._pull, parameter))
        handle.let_go.connect(self.stop)

    def _tell_of(self, parameter: Parameter, parts: tuple[QWidget, ...]) -> None:
        """Tell that somebody has come to a parameter, who has not only passed it on the way to another."""
        if any(part.underMouse() or part.hasFocus() for part in parts):
            self.neared.emit(parameter)

    def stop(self) -> None:
        """Come to rest."""
        self._rest.stop()
        if self._name:
            self._name, self._now = "", None
            self.rested.emit()

    def drop(self) -> None:
        """Forget the movement: something else is shown by now, and what is left of a drag means nothing."""
        self._rest.stop()
        self._is_over = bool(self._name)
        self._name, self._now = "", None

    def _take(self, parameter: Parameter) -> None:
        if self._name != parameter.name:
            self.stop()

    def _grab(self, parameter: Parameter) -> None:
        self._take(parameter)
        self._rest.stop()
        self._now, self._is_over = None, False

    def _pull(self, parameter: Parameter, pixels: int, fine: bool) -> None:
        if self._is_over:
            return
        if self._now is None or fine != self._fine:
            self._begin = pixels if self._now is not None else 0
            self._now, self._fine = self._track(parameter, fine), fine
        length = COARSE if is_coarse(parameter) else FINE
        self._move(parameter, self._now, int((pixels - self._begin) / length))

    def _step(self, parameter: Parameter, steps: int, fine: bool) -> None:
        self._take(parameter)
        self._move(parameter, self._track(parameter, fine), steps)
        self._rest.start()

    def _move(self, parameter: Parameter, track: Track, steps: int) -> None:
        if not self._name:
            self._name, self._text = parameter.name, track.start
        text = track.at(steps)
        if text != self._text:
            self._text = text
            self.moved.emit(self._name, text)

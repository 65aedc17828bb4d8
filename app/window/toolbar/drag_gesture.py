"""Changing parameters by drag, wheel and keys: the handles, the events, and the resulting values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from ....kernels.scenarios.catalogue import Parameter
from ...control.delay import Delay
from ...model.nothing import nothing
from ...widgets.controls import Chip, mark, open_field
from ...widgets.plain_text import PlainLabel, plain_tip
from .parameter_steps import Track, grows_downwards, is_coarse

NOTCH = 120  # of a wheel, in Qt's eighths of a degree
PAGE = 4  # steps of PageUp and PageDown
KEYS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: PAGE, Qt.Key.Key_PageDown: -PAGE}
COARSE, FINE = 16, 8  # pixels of a drag per step: for few values, and for many
HOVER_DELAY = 120  # milliseconds of hovering after which the user is not only passing
REST_DELAY = 400  # milliseconds without wheel or key after which the gesture ends
HINT = "Drag the name, turn the wheel, or press Up and Down; hold Shift for steps of 1."
HINT_WORDS = "Drag the name, turn the wheel, or press Up and Down."


def hint_of(parameter: Parameter) -> str:
    """Return the tooltip that explains how to change a parameter, "" for a file."""
    if parameter.file:
        return ""
    if parameter.choices:
        return HINT_WORDS
    return f"{parameter.minimum:,} to {parameter.maximum:,}. {HINT}"


class Handle(PlainLabel):
    """The name of a field, which can be dragged right and left; a click opens the field.

    neared: the pointer enters. grabbed: a drag begins. pulled: (pixels from its start, whether in fine steps).
    let_go: the drag ends.
    """

    def __init__(self, text: str, field: QWidget, tip: str) -> None:
        super().__init__(text)
        self.neared: Callable[[], object] = nothing
        self.grabbed: Callable[[], object] = nothing
        self.dragged: Callable[[int, bool], object] = nothing
        self.released: Callable[[], object] = nothing
        self.setObjectName("handle")
        self.setBuddy(field)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setToolTip(plain_tip(tip))
        self._pressed_at: float | None = None
        self._dragged = False

    def enterEvent(self, event: QEnterEvent) -> None:
        """Report that a drag may begin."""
        super().enterEvent(event)
        self.neared()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Note the start of a possible drag."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at, self._dragged = event.globalPosition().x(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag, once the pointer has moved far enough."""
        if self._pressed_at is None:
            return
        moved = round(event.globalPosition().x() - self._pressed_at)
        if not self._dragged and abs(moved) >= QApplication.startDragDistance() // 2:
            self._dragged = True
            mark(self, "held", True)
            self.grabbed()
        if self._dragged:
            self.dragged(moved, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag; without a drag, open the field."""
        if event.button() != Qt.MouseButton.LeftButton or self._pressed_at is None:
            return
        self._pressed_at = None
        mark(self, "held", False)
        if self._dragged:
            self.released()
        else:
            open_field(self.buddy())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Pass the wheel to the field."""
        QApplication.sendEvent(self.buddy(), event)


class Stepped(QObject):
    """Translates wheel and keys of a field into steps up and down; other events pass through.

    neared: the pointer or the focus enters. stepped: (steps up, negative for down; whether in fine steps).
    """

    def __init__(self, field: QWidget, parameter: Parameter) -> None:
        super().__init__(field)
        self.neared: Callable[[], object] = nothing
        self.stepped: Callable[[int, bool], object] = nothing
        self.downwards = grows_downwards(parameter)
        self._turned_by = 0
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: object) -> bool:
        """Handle the events that step."""
        if isinstance(event, QEvent) and event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self.neared()
        if isinstance(event, QWheelEvent):
            return self._read_wheel(event)
        if isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress:
            return self._read_key(event)
        return False

    def _read_wheel(self, event: QWheelEvent) -> bool:
        turn = event.angleDelta()
        self._turned_by += turn.y() or turn.x()  # with Alt or Shift, some systems report it as horizontal
        notches = int(self._turned_by / NOTCH)
        self._turned_by -= notches * NOTCH
        self._step(notches, event.modifiers())
        event.accept()
        return True

    def _read_key(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        steps = KEYS.get(Qt.Key(event.key()), 0) if held == Qt.KeyboardModifier.NoModifier else 0
        self._step(steps, event.modifiers())
        return bool(steps)

    def _step(self, steps: int, modifiers: Qt.KeyboardModifier) -> None:
        if steps:
            fine = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
            self.stepped(-steps if self.downwards else steps, fine)


class ParameterChip(Chip):
    """The fields of parameters in one frame, each after its handle."""

    def __init__(self, handles: list[Handle], owner: str) -> None:
        first, *others = handles
        super().__init__(first, [handle.buddy() for handle in handles])
        self.handles = handles
        for handle in others:
            self.row.insertWidget(self.row.indexOf(handle.buddy()), handle)
        if owner and others:
            caption = PlainLabel(owner)
            caption.setObjectName("muted")
            self.row.addWidget(caption)

    def note(self, field: QWidget, text: str, tip: str) -> None:
        """Show a note next to a field; without one, its description explains how to change it."""
        super().note(field, text, tip)
        handle = next(handle for handle in self.handles if handle.buddy() is field)
        field.setAccessibleDescription(tip or handle.toolTip())


class DragGesture(QObject):
    """A gesture that changes one parameter at a time, to values that its scenarios accept.

    near: called when the pointer or focus is at a parameter. move: called with (name, text) during the gesture.
    rest: called when the gesture ends.
    """

    def __init__(
        self,
        track: Callable[[Parameter, bool], Track],
        near: Callable[[Parameter], object],
        move: Callable[[str, str], object],
        rest: Callable[[], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._near, self._moved, self._rest = near, move, rest
        self._track = track  # returns the values of a parameter, in fine steps or not, from the current one
        self._current_track: Track | None = None
        self._name, self._text = "", ""
        self._fine = False  # whether a drag uses fine steps
        self._start_pixels = 0  # the position where the current kind of steps began
        self._is_over = False  # whether the rest of a drag is ignored
        self._rest_timer = Delay(self, REST_DELAY, self.stop)

    def watch(self, parameter: Parameter, field: QWidget, handle: Handle) -> None:
        """Connect a parameter's field and handle."""
        near = Delay(field, HOVER_DELAY, partial(self._report_near, parameter, (field, handle)))
        stepped = Stepped(field, parameter)
        stepped.stepped = partial(self._step, parameter)
        for part in (handle, stepped):
            part.neared = near.start
        handle.grabbed = partial(self._grab, parameter)
        handle.dragged = partial(self._pull, parameter)
        handle.released = self.stop

    def _report_near(self, parameter: Parameter, parts: tuple[QWidget, ...]) -> None:
        """Report a parameter if the pointer or focus is still at a parameter."""
        if any(part.underMouse() or part.hasFocus() for part in parts):
            self._near(parameter)

    def stop(self) -> None:
        """End the gesture."""
        self._rest_timer.stop()
        if self._name:
            self._name, self._current_track = "", None
            self._rest()

    def drop(self) -> None:
        """Abort the gesture and ignore the rest of a drag, since other setups are shown."""
        self._rest_timer.stop()
        self._is_over = bool(self._name)
        self._name, self._current_track = "", None

    def _switch_to(self, parameter: Parameter) -> None:
        if self._name != parameter.name:
            self.stop()

    def _grab(self, parameter: Parameter) -> None:
        self._switch_to(parameter)
        self._rest_timer.stop()
        self._current_track, self._is_over = None, False

    def _pull(self, parameter: Parameter, pixels: int, fine: bool) -> None:
        if self._is_over:
            return
        if self._current_track is None or fine != self._fine:
            self._start_pixels = pixels if self._current_track is not None else 0
            self._current_track, self._fine = self._track(parameter, fine), fine
        length = COARSE if is_coarse(parameter) else FINE
        self._move(parameter, self._current_track, int((pixels - self._start_pixels) / length))

    def _step(self, parameter: Parameter, steps: int, fine: bool) -> None:
        self._switch_to(parameter)
        self._move(parameter, self._track(parameter, fine), steps)
        self._rest_timer.start()

    def _move(self, parameter: Parameter, track: Track, steps: int) -> None:
        if not self._name:
            self._name, self._text = parameter.name, track.start
        text = track.value_at(steps)
        if text != self._text:
            self._text = text
            self._moved(self._name, text)

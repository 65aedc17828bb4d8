"""The command palette: finds commands, scenarios, lectures, exercises and shortcuts by parts of their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QFont, QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ...kernels.scenarios.catalogue import Scenario
from ..exercises.controller import ExerciseController
from ..lectures.model.library import lecture_name, lecture_title, shipped_lectures
from ..lectures.player.commands import LeftLectures
from ..lectures.player.lectures import Lectures
from ..model.visible_text import escape_controls
from ..widgets.command import Commands
from ..widgets.theme import Theme
from .actions import PALETTE
from .dialogs import FIELD_KEYS

EMPTY = "Nothing matches"
MOVING = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
SIZE = QSize(640, 520)  # pixels at the normal text size
INDEX = Qt.ItemDataRole.UserRole
# The penalties of a match, from a good one to a poor one.
AT_START, INSIDE, IN_KEYS, SCATTERED, IN_DETAIL = 0, 2, 3, 5, 8

# Names of scenarios in textbooks, by the start of a scenario's own name.
OTHER_NAMES = {
    "vector-": "vector add addition saxpy axpy map element-wise",
    "sum-": "reduction reduce",
    "matmul-": "matrix multiplication product gemm",
    "copy-": "coalescing coalesced memcpy",
    "jacobi-": "stencil heat",
    "count-": "atomicAdd",
}

PURPOSE = "Find a command, scenario, lecture, exercise or shortcut"


class Entry(Struct, frozen=True):
    """One line of the palette."""

    title: str
    kind: str  # the menu of a command, "Scenario", "Lecture", "Exercise" or "Shortcut"
    run: Callable[[], object]
    keys: str = ""
    detail: str = ""  # a line of explanation
    name: str = ""  # the name on the command line, also found
    is_enabled: bool = True
    other_names: str = ""  # also found


def command_entries(commands: Commands, actions: Mapping[str, QAction]) -> Iterator[Entry]:
    """Yield the commands of the menus, except the palette itself."""
    for menu, listed in commands.items():
        for command in listed:
            action = actions.get(command.text)
            if action is not None and command.text != PALETTE:
                keys = command.keys.replace(", ", " or ")
                detail = "" if action.isEnabled() else action.statusTip()
                yield Entry(action.text(), menu, action.trigger, keys, detail, is_enabled=action.isEnabled())


def scenario_entries(scenarios: Iterable[Scenario], pick: Callable[[str], object]) -> Iterator[Entry]:
    """Yield the scenarios with their lessons; `pick` opens one by its name."""
    for scenario in scenarios:
        yield Entry(
            scenario.title,
            "Scenario",
            partial(pick, scenario.name),
            detail=scenario.lesson,
            name=scenario.name,
            other_names=next((n for start, n in OTHER_NAMES.items() if scenario.name.startswith(start)), ""),
        )


def lecture_entries(lectures: Lectures, left: LeftLectures) -> Iterator[Entry]:
    """Yield the shipped and the recent lectures, and the unsaved ones that were left."""
    for title, resume in left():
        yield Entry(title, "Recent lecture", resume)
    for path in shipped_lectures():
        title = escape_controls(lecture_title(path))
        yield Entry(title, "Lecture", partial(lectures.open, path), name=lecture_name(path))
    for path in lectures.recent():
        if path not in shipped_lectures():
            detail = escape_controls(str(path.parent))
            yield Entry(
                escape_controls(path.name), "Recent lecture", partial(lectures.open, path), detail=detail
            )


def exercise_entries(controller: ExerciseController) -> Iterator[Entry]:
    """Yield the exercises of the folder opened last."""
    for exercise in controller.exercises():
        title = f"{exercise.number}. {escape_controls(exercise.title)}"
        detail = "Done" if controller.is_done(exercise) else ""
        yield Entry(title, "Exercise", partial(controller.open, exercise), detail=detail, name=exercise.name)


def shortcut_entries(show_keys: Callable[[], object]) -> Iterator[Entry]:
    """Yield the keys of fields, which are no commands; they open the page of keys."""
    for where, text, keys in FIELD_KEYS:
        yield Entry(text, "Shortcut", show_keys, keys, where)


def ranked(entries: Sequence[Entry], text: str) -> list[Entry]:
    """Return the entries that match every word of a text, the best first; all entries without a text.

    A word matches at the start of a word of the title, inside it, as scattered letters from the start of a word on,
    in the keys or names, or in the explanation.
    """
    words = text.lower().split()
    scored = []
    for number, entry in enumerate(entries):
        scores = [_score(entry, word) for word in words]
        matches = [score for score in scores if score is not None]
        if len(matches) == len(words):
            scored.append((sum(matches), number, entry))
    return [entry for _, _, entry in sorted(scored, key=lambda row: row[:2])]


def _score(entry: Entry, word: str) -> float | None:
    """Return the penalty of a word's best match, None without a match."""
    title = entry.title.lower()
    length = len(title) / 1000  # shorter titles first
    positions = matched_letters(title, word)
    if positions:
        first, last = positions[0], positions[-1]
        if last - first + 1 == len(word):
            return (AT_START if first == 0 or not title[first - 1].isalnum() else INSIDE) + length
        return SCATTERED + (last - first) / 100 + length
    if any(word in text.lower() for text in (entry.keys, entry.name, entry.other_names)):
        return IN_KEYS
    return IN_DETAIL if word in f"{entry.detail} {entry.kind}".lower() else None


def matched_letters(title: str, word: str) -> tuple[int, ...]:
    """Return the positions of a word's letters in a title, both in lower case; () without a match.

    A connected match at the start of a word is preferred to one inside, and both to scattered letters.
    """
    starts = [match.start() for match in re.finditer(r"\w+", title)]
    connected = [i for i in starts if title.startswith(word, i)]
    first = connected[0] if connected else title.find(word)
    if first >= 0:
        return tuple(range(first, first + len(word)))
    for start in starts if len(word) > 1 else ():
        positions: list[int] = []
        for letter in word:
            i = title.find(letter, positions[-1] + 1 if positions else start)
            if i < 0 or (not positions and i != start):
                break
            positions.append(i)
        if len(positions) == len(word) and positions[-1] - positions[0] < 4 * len(word):
            return tuple(positions)
    return ()


class Palette(QDialog):
    """A field and a list without a title bar over the upper half of a window."""

    def __init__(self, parent: QWidget, theme: Theme, entries: Sequence[Entry], purpose: str) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle("Command palette")
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setStyleSheet(f"QDialog#palette {{ border: 1px solid {theme.palette.control}; }}")
        self.entries, self.shown = entries, list(entries)
        self.words, self.list = QLineEdit(), QListWidget()
        self.words.setPlaceholderText(purpose)
        self.words.setAccessibleName(purpose)
        self.words.setFont(theme.font(17))
        self.words.textChanged.connect(self._filter)
        self.words.returnPressed.connect(self._take)
        self.words.installEventFilter(self)
        self.list.setAccessibleName("Matches")
        self.list.setObjectName("steps")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(EntryDelegate(self, theme))
        self.list.itemClicked.connect(lambda _: self._take())
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.px(10)] * 4)
        column.addWidget(self.words)
        column.addWidget(self.list)
        width = min(theme.px(SIZE.width()), parent.width() - 20)
        self.resize(width, min(theme.px(SIZE.height()), parent.height() - 20))
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(
            corner.x() + (parent.width() - width) // 2,
            corner.y() + max(10, (parent.height() - self.height()) // 4),
        )
        self._filter("")
        self.words.setFocus()

    def _filter(self, text: str) -> None:
        """Show the entries that match, with the best one selected."""
        self.list.clear()  # first, since its items refer to the entries shown before
        self.shown = ranked(self.entries, text)
        for number, entry in enumerate(self.shown):
            item = QListWidgetItem()
            item.setData(INDEX, number)
            read_aloud = ", ".join(filter(None, (entry.title, entry.kind, entry.keys, entry.detail)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, read_aloud)
            self.list.addItem(item)
        if not self.shown:
            nothing = QListWidgetItem(EMPTY)
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)
        self.list.setCurrentRow(0 if self.shown else -1)

    def chosen(self) -> Entry | None:
        """Return the selected entry."""
        row = self.list.currentRow()
        return self.shown[row] if 0 <= row < len(self.shown) else None

    def _take(self) -> None:
        """Close, then run or open the selected entry, unless it is not available."""
        entry = self.chosen()
        if entry is not None and entry.is_enabled:
            self.close()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys that move in the list from the field to the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in MOVING:
            self.list.event(event)
            return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        """Close when the user goes to another window."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isVisible() and not self.isActiveWindow():
            self.close()


class EntryDelegate(QStyledItemDelegate):
    """Draws an entry: title with the matched letters in bold, keys at the right, explanation below."""

    def __init__(self, palette: Palette, theme: Theme) -> None:
        super().__init__(palette)
        self.owner, self.theme = palette, theme

    def _entry(self, index: QModelIndex | QPersistentModelIndex) -> Entry | None:
        number = index.data(INDEX)
        return None if number is None else self.owner.shown[number]

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return one row, or two with an explanation."""
        entry = self._entry(index)
        return QSize(100, self.theme.px(48 if entry and entry.detail else 30))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw an entry."""
        entry, theme = self._entry(index), self.theme
        if entry is None:
            super().paint(painter, option, index)
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        box = QRectF(option.rect).adjusted(theme.px(2), 1, -theme.px(2), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("accent"))
            painter.drawRoundedRect(box, theme.px(4), theme.px(4))
        ink = theme.colour("accent_text" if chosen else "text" if entry.is_enabled else "muted")
        quiet = theme.colour("accent_text" if chosen else "muted")
        box.adjust(theme.px(8), 0, -theme.px(8), 0)
        row = QRectF(box.x(), box.y(), box.width(), theme.px(28))
        left = row.right()
        if entry.keys:
            left = self._draw_keys(painter, row, entry.keys, quiet.name())
        kind_font = theme.font(12)
        painter.setFont(kind_font)
        painter.setPen(quiet)
        kind_width = QFontMetricsF(kind_font).horizontalAdvance(entry.kind)
        kind_box = QRectF(
            left - theme.px(10) * bool(entry.keys) - kind_width, row.y(), kind_width + 1, row.height()
        )
        painter.drawText(kind_box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, entry.kind)
        painter.setPen(ink)
        row.setRight(kind_box.left() - theme.px(10))
        self._draw_title(painter, row, entry.title)
        if entry.detail:
            painter.setPen(quiet)
            painter.setFont(theme.font(12))
            below = QRectF(box.x(), box.y() + theme.px(25), box.width(), theme.px(18))
            text = QFontMetricsF(theme.font(12)).elidedText(
                entry.detail, Qt.TextElideMode.ElideRight, below.width()
            )
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.restore()

    def _draw_keys(self, painter: QPainter, row: QRectF, keys: str, colour: str) -> float:
        """Draw the keys in a frame at the right of a row; return the frame's left edge."""
        theme, font = self.theme, self.theme.font(12)
        width = QFontMetricsF(font).horizontalAdvance(keys) + theme.px(12)
        frame = QRectF(row.right() - width, row.y() + theme.px(4), width, theme.px(20))
        painter.setFont(font)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour))
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), theme.px(4), theme.px(4))
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, keys)
        return frame.left()

    def _draw_title(self, painter: QPainter, row: QRectF, title: str) -> None:
        """Draw a title with the letters that match the typed words in bold."""
        lower = title.lower()
        bold = {i for word in self.owner.words.text().lower().split() for i in matched_letters(lower, word)}
        x, plain = row.x(), QFontMetricsF(self.theme.font(14))
        text = plain.elidedText(title, Qt.TextElideMode.ElideRight, row.width() - len(bold))
        for run in re.finditer(r"b+|p+", "".join("b" if i in bold else "p" for i in range(len(text)))):
            font: QFont = self.theme.font(14, bold=run.group()[0] == "b")
            painter.setFont(font)
            part = text[run.start() : run.end()]
            width = QFontMetricsF(font).horizontalAdvance(part)
            painter.drawText(QRectF(x, row.y(), width + 1, row.height()), Qt.AlignmentFlag.AlignVCenter, part)
            x += width


def show_palette(parent: QWidget, theme: Theme, entries: Sequence[Entry], purpose: str = PURPOSE) -> Palette:
    """Open the palette over a window, replacing an open one."""
    for shown in parent.findChildren(Palette, options=Qt.FindChildOption.FindDirectChildrenOnly):
        shown.close()
    palette = Palette(parent, theme, entries, purpose)
    palette.show()
    palette.activateWindow()
    return palette

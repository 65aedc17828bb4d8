"""The thread inspector: the chosen thread, its state, and its nearest accesses."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ....tracer.causes.variables import WatchError, number_text
from ....tracer.model.array_types import Ints
from ....tracer.model.finding import count_noun
from ....tracer.model.trace import WARP, Op
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...model.thread_variables import accesses_until, line_moments, line_step, variables_text, watched
from ...widgets.controls import on_choice
from ...widgets.patterns import WAITING, mixed, swatch
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.theme import Theme, flat_sheet, text_palette
from ..common.activity import (
    BlockActivity,
    WarpActivity,
    WarpState,
    block_activity,
    thread_accesses,
    warp_activity,
    warp_status,
)
from ..common.outside import outside_of
from ..common.view import View
from ..common.wording import access_kind, access_text, element_text, outside_text, phase_text
from .picker import Picker
from .watch import WatchPicture

PICKED, ROWS = ("Block", "Thread"), ("Element", "Warp, lane", "Phase", "Now", "Variables")
NOW = ROWS.index("Now")
WATCH = "Watch"
WATCH_EXAMPLE = "an expression, such as row * 2 + col"
AROUND = 6  # accesses before and after the current one
SPACES = str.maketrans("0123456789,", "\u2007" * 10 + "\u2008")
MOMENT = Qt.ItemDataRole.UserRole
STATES: dict[WarpState, str] = {
    "absent": "the trace holds no accesses of this block",
    "before": "not started yet",
    "request": "no access: other lanes of its warp access memory",
    "exchange": "exchanges values with its warp",
    "waiting": "waits at the barrier",
    "idle": "between two accesses",
    "after": "finished",
}


class ThreadActivity(Struct, frozen=True, eq=False):
    """The activity of the chosen thread."""

    selection: Selection  # its block and its number there
    block: BlockActivity  # what its block does
    warp: WarpActivity  # what its warp does
    rows: Ints  # (n,), its accesses (rows of the trace) in order
    moments: Ints  # (n,), the moments of these accesses
    line_moments: list[int]  # at which it comes to another line


class ThreadView(View):
    """Selects a block and a thread, and shows the thread's state; a click on an access goes to its moment."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.pick_block, self.pick_thread = Picker(theme, self), Picker(theme, self)
        self.pick_block.picked = lambda n: self.ask.select(Selection(n, self.selection.thread))
        self.pick_thread.picked = lambda n: self.ask.select(Selection(self.selection.block, n))
        for picker in (self.pick_block, self.pick_thread):
            picker.left = lambda: self.ask.leave()
        self.names = {name: PlainLabel(name, self) for name in (*PICKED, *ROWS)}
        self.values = {row: PlainLabel(parent=self) for row in ROWS}
        self.swatch, self.outside = PlainLabel(parent=self), PlainLabel(parent=self)
        self.line_before, self.line_after = QPushButton("Line before", self), QPushButton("Line after", self)
        self.line_before.clicked.connect(lambda _checked: self._step_line(-1))
        self.line_after.clicked.connect(lambda _checked: self._step_line(1))
        self.watch_name, self.watch = PlainLabel(WATCH, self), QLineEdit(self)
        self.watch.setPlaceholderText(WATCH_EXAMPLE)
        self.watch.returnPressed.connect(self._show_watch)
        self.watch_note, self.watch_picture = PlainLabel(parent=self), WatchPicture(theme, self)
        self.watch_picture.picked = lambda n: self.ask.select(Selection(self.selection.block, n))
        self.list = AccessList(self)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        on_choice(self.list, self._go)
        self._activity: ThreadActivity | None = None
        self._arrange()
        self.set_theme(theme)

    def _arrange(self) -> None:
        grid = QGridLayout()
        self._grid = grid
        for row, (name, picker) in enumerate(zip(PICKED, (self.pick_block, self.pick_thread), strict=True)):
            grid.addWidget(self.names[name], row, 0)
            grid.addWidget(picker, row, 1)
        for row, name in enumerate(ROWS, 2):
            label = self.values[name]
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(self.names[name], row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, row, 1)
        grid.addWidget(
            self.swatch, len(PICKED) + NOW, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
        )
        grid.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(grid)
        self.outside.setWordWrap(True)
        self.watch_note.setWordWrap(True)
        steps = QHBoxLayout()
        steps.addWidget(self.line_before)
        steps.addWidget(self.line_after)
        steps.addStretch(1)
        field = QHBoxLayout()
        field.addWidget(self.watch_name)
        field.addWidget(self.watch, 1)
        layout.addWidget(self.outside)
        layout.addLayout(steps)
        layout.addWidget(self.list, 1)
        layout.addLayout(field)
        layout.addWidget(self.watch_note)
        layout.addWidget(self.watch_picture)
        self.watch_note.hide()
        self.watch_picture.hide()

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self._activity = None
        self.setEnabled(session is not None)
        self.pick_block.set_dim(session.trace.grid if session else (1, 1, 1))
        self.pick_thread.set_dim(session.trace.block_dim if session else (1, 1, 1))
        self._show()

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Return True if the shown thread is highlighted."""
        return highlight.has_warp_of(self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show the chosen thread at a moment."""
        changed = int(moment) != int(self.moment) or selection != self.selection
        super().render_moment(moment, selection)
        if changed:
            self._show()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        self._grid.setHorizontalSpacing(theme.px(12))
        self._grid.setVerticalSpacing(theme.px(6))
        for label in (*self.names.values(), *self.values.values()):
            label.setFont(theme.font(12.5))
            label.setPalette(text_palette(theme, "muted" if label in self.names.values() else "text"))
        self.outside.setFont(theme.font(12.5))
        self.outside.setPalette(text_palette(theme, "bad"))
        now = self.values["Now"]
        now.setAlignment(Qt.AlignmentFlag.AlignTop)
        now.setMinimumHeight(2 * now.fontMetrics().lineSpacing())  # longer texts must not move the list
        self.swatch.setMinimumHeight(now.fontMetrics().lineSpacing())  # centred on its line
        for picker in (self.pick_block, self.pick_thread, self.watch_picture):
            picker.set_theme(theme)
        for widget in (self.watch_name, self.watch, self.watch_note, self.line_before, self.line_after):
            widget.setFont(theme.font(12.5))
        for label in (self.watch_name, self.watch_note):
            label.setPalette(text_palette(theme, "muted"))
        self.list.setStyleSheet(flat_sheet("QListWidget", theme))
        self.list.setFont(theme.font(12))
        self.list.setIconSize(QSize(theme.px(12), theme.px(12)))
        self._show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the panel behind the rows."""
        QPainter(self).fillRect(event.rect(), self.theme.colour("panel"))

    def _show(self) -> None:
        for name, label in self.names.items():
            label.setText(self.reword(name))
        self._name_parts()
        if not self.session:
            for label in self.values.values():
                label.clear()
            self.swatch.clear()
            self.outside.hide()
            self.list.clear()
            self._hide_watch()
            return
        if not self._activity or self._activity.selection != self.selection:
            self._activity = thread_activity(self.session, self.selection)
            self.pick_block.show_number(self.selection.block)
            self.pick_thread.show_number(self.selection.thread)
        self._show_outside()
        for row, text in rows_of(self.session, self._activity, self.moment).items():
            self.values[row].setText(with_hard_spaces(self.reword(text)))
        look = access_look(self.session, self._activity, self.moment)
        self.swatch.setPixmap(self._swatch(look) if look else QPixmap())
        self._show_list(self._activity)
        self._show_line_steps(self._activity)
        self._show_watch()

    def _name_parts(self) -> None:
        """Set the accessible names and tooltips of the parts."""
        self.setAccessibleName(self.reword("Thread inspector"))
        self.list.setAccessibleName(self.reword("Accesses of the thread around this moment"))
        self.watch.setAccessibleName(self.reword("Expression over all threads of the block"))
        self.pick_block.name(self.reword("block"))
        self.pick_thread.name(self.reword("thread"))

    def _show_outside(self) -> None:
        """Show the out-of-bounds accesses of the thread."""
        assert self.session
        trace, chosen = self.session.trace, self.selection
        own_accesses = (trace.outside.block == chosen.block) & (trace.outside.thread == chosen.thread)
        text = outside_text(trace, own_accesses)
        self.outside.setText(self.reword(text))
        self.outside.setVisible(bool(text))

    def _show_list(self, activity: ThreadActivity) -> None:
        assert self.session
        near = shown_range(len(activity.rows), current_index(activity, self.moment))
        while self.list.count() > len(near):
            self.list.takeItem(self.list.count() - 1)
        while self.list.count() < len(near):
            self.list.addItem(QListWidgetItem())
        widest = f"{int(activity.moments[-1]):,}" if len(activity.moments) else ""
        for item, index in zip(map(self.list.item, range(len(near))), near, strict=True):
            self._fill(item, int(activity.rows[index]), int(activity.moments[index]), widest)
        if len(near):
            self.list.centre(max(current_index(activity, self.moment) - near.start, 0))

    def _fill(self, item: QListWidgetItem, row: int, moment: int, widest: str) -> None:
        """Show one access in an item; the current one has its kind's colour as background."""
        assert self.session
        kind, now = access_kind(self.session, row), moment == int(self.moment)
        item.setText(f"{padded(f'{moment:,}', widest)}  {access_text(self.session, row)}")
        item.setIcon(QIcon(self._swatch(kind)))
        item.setData(MOMENT, moment)
        item.setToolTip(plain_tip(f"{self.reword(kind)}: click to go to moment {moment:,}"))
        panel = self.theme.colour("panel")
        item.setBackground(mixed(panel, self.theme.colour(kind).name(), 0.2) if now else panel)
        item.setForeground(self.theme.colour("muted" if moment > self.moment else "text"))
        item.setFont(self.theme.font(12, bold=now))

    def _swatch(self, look: str) -> QPixmap:
        return swatch(look, self.theme.px(12), self.theme, self.devicePixelRatioF())

    def _show_line_steps(self, activity: ThreadActivity) -> None:
        for button, direction in ((self.line_before, -1), (self.line_after, 1)):
            button.setEnabled(line_step(activity.line_moments, self.moment, direction) is not None)

    def _step_line(self, direction: int) -> None:
        """Go to the moment at which the thread comes to another line."""
        if self._activity is not None:
            moment = line_step(self._activity.line_moments, self.moment, direction)
            if moment is not None:
                self.ask.seek(float(moment))

    def _hide_watch(self) -> None:
        self.watch_note.hide()
        self.watch_picture.hide()

    def _show_watch(self) -> None:
        """Show the expression in all threads of the block at the moment, or why there is no value."""
        text, session, block = self.watch.text().strip(), self.session, self.selection.block
        if not text or session is None or block not in session.trace.blocks:
            self._hide_watch()
            return
        try:
            result = watched(session, block, text)
        except WatchError as error:
            self._hide_watch()
            self.watch_note.setText(self.reword(str(error)))
            self.watch_note.show()
            return
        counts = accesses_until(session, block, self.moment).tolist()
        values = tuple(result.value(thread, count) for thread, count in enumerate(counts))
        limits = result.limits
        self.watch_picture.show_values(values, session.trace.block_dim, self.selection.thread, limits, text)
        count = len({value for value in values if value is not None})
        ends = " to ".join(dict.fromkeys(map(number_text, limits)))
        note = (
            f"{count_noun(count, 'different value')} now; {ends} in this block"
            if count
            else "no thread has a value now"
        )
        missing = f". Some are missing: {result.reason}" if result.reason else ""
        self.watch_note.setText(self.reword(note + missing))
        self.watch_note.show()

    def _go(self, item: QListWidgetItem) -> None:
        self.ask.seek(float(item.data(MOMENT)))


class AccessList(QListWidget):
    """A list that keeps one item in the middle at any height."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._middle = 0

    def centre(self, row: int) -> None:
        """Keep this item in the middle."""
        self._middle = row
        if row < self.count():
            self.scrollToItem(self.item(row), QListWidget.ScrollHint.PositionAtCenter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Centre the item again."""
        super().resizeEvent(event)
        self.centre(self._middle)


def padded(number: str, widest: str) -> str:
    """Pad a number to the width of a longer one, with spaces as wide as digits and commas."""
    return widest[: len(widest) - len(number)].translate(SPACES) + number


def with_hard_spaces(text: str) -> str:
    """Prevent line breaks inside terms such as tile[3, 5] or = 0."""
    return text.replace(", ", ",\u00a0").replace(" = ", " =\u00a0")


VERBS = {Op.LOAD: "reads", Op.STORE: "writes"}


def thread_activity(session: Session, selection: Selection) -> ThreadActivity:
    """Collect what the inspector needs of a thread at any moment."""
    warp = warp_activity(session.requests, selection.block, selection.thread // WARP)
    rows, moments = thread_accesses(session, warp, selection.thread)
    lines = line_moments(session, rows, moments)
    return ThreadActivity(selection, block_activity(session, selection.block), warp, rows, moments, lines)


def rows_of(session: Session, activity: ThreadActivity, moment: float) -> dict[str, str]:
    """Return the text of each row."""
    chosen = activity.selection
    now = warp_status(activity.block, activity.warp, session.requests, moment)
    label = phase_text(session.scenario, now.phase, activity.block.phases).label
    index = current_index(activity, moment)
    has_access = index >= 0 and activity.moments[index] == int(moment)
    return {
        "Element": result_element(session, activity),
        "Warp, lane": f"{chosen.thread // WARP}, {chosen.thread % WARP}",
        "Phase": ""
        if now.state == "absent"
        else label
        if label.startswith("phase")
        else f"{now.phase}: {label}",
        "Now": outside_access_text(session, chosen, int(moment))
        or (access_text(session, int(activity.rows[index])) if has_access else STATES[now.state]),
        "Variables": "" if now.state in ("absent", "before") else variables_text(session, chosen, index + 1),
    }


def outside_access_text(session: Session, selection: Selection, moment: int) -> str:
    """Describe the thread's out-of-bounds access at a moment; "" without one."""
    if not len(session.trace.outside.block):
        return ""
    lanes = dict(outside_of(session).lanes(moment, selection))
    access = lanes.get(selection.thread % WARP)
    return f"{VERBS.get(access.op, 'updates')} {access.text}: out of bounds" if access else ""


def access_look(session: Session, activity: ThreadActivity, moment: float) -> str:
    """Return the kind of the thread's current access, "waiting", or ""."""
    index = current_index(activity, moment)
    if index >= 0 and activity.moments[index] == int(moment):
        return access_kind(session, int(activity.rows[index]))
    state = warp_status(activity.block, activity.warp, session.requests, moment).state
    return WAITING if state == "waiting" else ""


def result_element(session: Session, activity: ThreadActivity) -> str:
    """Return the element of global memory that the thread stores last: its result."""
    trace, rows = session.trace, activity.rows
    spaces = np.array([b.space == "global" for b in trace.buffers], bool)
    stores = rows[(trace.op[rows] != Op.LOAD) & spaces[trace.buffer[rows]]]
    if not len(stores):
        return "none: it stores nothing in global memory"
    return element_text(trace.buffers[int(trace.buffer[stores[-1]])], int(trace.index[stores[-1]]))


def current_index(activity: ThreadActivity, moment: float) -> int:
    """Return the index of the thread's last access up to a moment, -1 before its first."""
    return int(np.searchsorted(activity.moments, int(moment), "right")) - 1


def shown_range(count: int, index: int) -> range:
    """Return the range of shown indices around one."""
    shown = min(count, 2 * AROUND + 1)
    first = min(max(index - AROUND, 0), count - shown)
    return range(first, first + shown)

"""The presenter's window: notes, pictures of the current and the next step, the answer, timer, and large buttons."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QFontMetrics, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...model.nothing import nothing
from ...model.visible_text import escape_controls
from ...widgets.command import Command
from ...widgets.controls import button, paint_icon
from ...widgets.plain_text import PlainLabel, RichLabel, markup, plain_tip
from ...widgets.theme import Theme, style_sheet
from ..model.clock import Clock, time_text
from ..player.handout import answer_html, choices_html
from ..player.player import LecturePlayer
from .live_picture import LivePicture
from .step_view import StepView
from .thumbnails import Thumbnails

TICK = 500  # milliseconds between updates of the timer
SIZE = QSize(1280, 800)
NOTES, NOTES_LEAST, NOTES_MOST = 20, 12, 44  # font sizes of the notes
NO_NOTES = "There are no notes for this step."
NO_LECTURE = "No lecture is presented."
LAST = "The lecture ends here."
PREPARED = "The picture appears once the step's traces are loaded."


class PresenterWindow(QWidget):
    """The window of the speaker.

    closed: the window was closed. audience_asked: show or raise the audience's window. swap_asked: swap the screens.
    """

    def __init__(
        self,
        player: LecturePlayer,
        clock: Clock,
        live: LivePicture,
        thumbnails: Thumbnails,
        commands: Sequence[Command],
        theme: Theme,
    ) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.closed: Callable[[], object] = nothing
        self.audience_asked: Callable[[], object] = nothing
        self.swap_asked: Callable[[], object] = nothing
        self.player, self.clock, self.theme = player, clock, theme
        self.live, self.thumbnails = live, thumbnails
        self.setWindowTitle("Presenter's window - Tilescope")
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, True)
        self.notes_size = NOTES
        self._listed_lecture: object = None  # the listed lecture
        self._build()
        self._add_commands(commands)
        self._tick = QTimer(self, interval=TICK)
        self._tick.timeout.connect(self.show_time)
        for signal in (player.changed, player.shown, player.awaited_changed):
            signal.connect(self.refresh)
        player.votes_changed.connect(self._show_votes)
        thumbnails.drawn = self._show_pictures
        live.copied = self._show_pictures
        self.set_theme(theme)
        self.resize(SIZE)
        self.refresh()

    # Construction.

    def _build(self) -> None:
        self.current, self.next = (
            StepView("The audience's picture", self.theme),
            StepView("Next step", self.theme),
        )
        self.next.clicked = self.player.next
        self.body = QHBoxLayout()
        self.body.addLayout(self._build_pictures(), 11)
        self.body.addLayout(self._build_texts(), 9)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self._build_bar())
        self.messages = PlainLabel()
        self.messages.setObjectName("pitfall")
        self.messages.setWordWrap(True)
        self.messages.setAccessibleName("Messages")
        self.messages.hide()
        self.column.addWidget(self.messages)
        self.column.addLayout(self.body, 1)
        self.column.addLayout(self._build_buttons())

    def _build_bar(self) -> QHBoxLayout:
        self.where, self.title = PlainLabel(), PlainLabel()
        self.title.setObjectName("title")
        self.gone, self.daytime = PlainLabel(), PlainLabel()
        self.gone.setAccessibleName("Elapsed time")
        self.daytime.setAccessibleName("Time of day")
        self.stop = button("Pause timer", "Pause or resume the timer", "pause", run=self.toggle_clock)
        self.reset = button("Restart timer", "Restart the timer from zero", "loop", run=self.restart_clock)
        self.audience = button(
            "Audience's window", "", text="Show the audience's window", run=self._ask_audience
        )
        self.swap = button(
            "Swap screens",
            "Swap the screens of the two windows",
            text="Swap",
            run=lambda: self.swap_asked(),
        )
        bar = QHBoxLayout()
        self.bar = bar
        bar.addWidget(self.where)
        bar.addWidget(self.title)
        bar.addStretch(1)
        for widget in (self.audience, self.swap, self.gone, self.stop, self.reset, self.daytime):
            bar.addWidget(widget)
        return bar

    def _build_pictures(self) -> QVBoxLayout:
        self.list = QListWidget()
        self.list.setAccessibleName("Steps")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its keys belong to the lecture
        self.list.itemClicked.connect(lambda item: self.player.go(self.list.row(item)))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.next_title = PlainLabel()
        self.next_title.setObjectName("muted")
        self.next_title.setWordWrap(True)
        next_column = QVBoxLayout()
        next_column.addWidget(self.next_title)
        next_column.addWidget(self.next, 1)
        self.below = QHBoxLayout()
        self.below.addLayout(next_column, 1)
        self.below.addWidget(self.list, 1)
        column = QVBoxLayout()
        column.addWidget(self.current, 5)
        column.addLayout(self.below, 3)
        self.pictures = column
        return column

    def _build_texts(self) -> QVBoxLayout:
        self.answer = RichLabel()
        self.answer.setWordWrap(True)
        self.card = QFrame()
        self.card.setObjectName("panel")
        self.card_column = QVBoxLayout(self.card)
        self.card_column.addWidget(self.answer)
        self.votes = PlainLabel()
        self.votes.setAccessibleName("Votes")
        self.close_vote = button(
            "Close vote", "Close the vote (V)", text="Close vote", run=lambda: self.player.close_vote()
        )
        self.close_vote.setShortcut("V")
        self.vote_row = QHBoxLayout()
        self.vote_row.addWidget(self.votes, 1)
        self.vote_row.addWidget(self.close_vote)
        self.card_column.addLayout(self.vote_row)
        self.notes = RichLabel()
        self.notes.setWordWrap(True)
        self.notes.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.area = QScrollArea()
        self.area.setWidget(self.notes)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setAccessibleName("Notes")
        frame = QFrame()
        frame.setObjectName("panel")
        self.notes_column = QVBoxLayout(frame)
        self.notes_column.addWidget(self.area)
        column = QVBoxLayout()
        column.addWidget(self.card)
        column.addWidget(frame, 1)
        self.texts = column
        return column

    def _build_buttons(self) -> QHBoxLayout:
        player = self.player
        self.previous_button = button(
            "Previous step", "Previous step (PageUp)", text="Previous", run=player.previous
        )
        self.blank = button(
            "Blank the screen", "Blank the audience's screen (B)", text="Blank", run=player.toggle_blank
        )
        self.blank.setCheckable(True)
        self.reveal = button(
            "Show the answer", "Show the audience the answer (A)", text="Show the answer", run=self._reveal
        )
        self.next_button = button("Next", "Go on (PageDown)", text="Next", run=player.next)
        self.next_button.setObjectName("primary")
        self.buttons: tuple[QPushButton, ...] = (
            self.previous_button,
            self.blank,
            self.reveal,
            self.next_button,
        )
        row = QHBoxLayout()
        for push_button, share in zip(self.buttons, (2, 1, 2, 3), strict=True):
            push_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            row.addWidget(push_button, share)
        self.row = row
        return row

    def _add_commands(self, commands: Sequence[Command]) -> None:
        """Add the shortcuts of the audience's window, and those of the notes."""
        own = [
            Command("Larger notes", "Ctrl++, Ctrl+=", lambda: self.resize_notes(2)),
            Command("Smaller notes", "Ctrl+-", lambda: self.resize_notes(-2)),
            Command("Notes down", "Down", lambda: self._scroll(1)),
            Command("Notes up", "Up", lambda: self._scroll(-1)),
            Command("Close", "Ctrl+W", self.close),
        ]
        for command in (*commands, *own):
            if command.keys:
                action = QAction(command.text, self)
                action.setShortcuts([QKeySequence(keys) for keys in command.keys.split(", ")])
                action.triggered.connect(lambda _checked, run=command.callback: run())
                self.addAction(action)

    # Look.

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self.setStyleSheet(style_sheet(theme) + own_sheet(theme))
        self.setFont(theme.font())
        gap = theme.px(10)
        for box in (self.bar, self.column, self.body, self.pictures, self.below, self.texts, self.row):
            box.setSpacing(gap)
        self.column.setContentsMargins(gap, gap, gap, gap)
        for column in (self.card_column, self.notes_column):
            column.setContentsMargins(gap, gap, gap, gap)
        for label in (self.where, self.daytime, self.title):
            label.setFont(theme.font(18))
        self.gone.setFont(theme.font(26, bold=True))
        self.next_title.setFont(theme.font(14))
        self.list.setFont(theme.font(14))
        for push_button in self.buttons:
            push_button.setFont(theme.font(18, bold=push_button is self.next_button))
            push_button.setFixedHeight(theme.px(52))
        for control in (self.stop, self.reset):
            paint_icon(control, theme)
        for view in (self.current, self.next):
            view.set_theme(theme)
        self.resize_notes(0)
        self.refresh()

    def resize_notes(self, change: int) -> None:
        """Change the font size of the notes, which also grows with the window."""
        self.notes_size = min(max(self.notes_size + change, NOTES_LEAST), NOTES_MOST)
        size = self.notes_size * max(1.0, self.height() / self.theme.scale / SIZE.height())
        self.notes.setFont(self.theme.font(size))
        for label in (self.answer, self.votes):
            label.setFont(self.theme.font(max(14, 0.85 * size)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit notes and title to the new size."""
        super().resizeEvent(event)
        self.resize_notes(0)
        self._show_title(self.title.accessibleName())

    def _scroll(self, direction: int) -> None:
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.value() + direction * self.theme.px(3 * self.notes_size))

    def show_messages(self, sentences: Sequence[str]) -> None:
        """Show the messages that are hidden from the audience."""
        self.messages.setText("\n".join(sentences))
        self.messages.setVisible(bool(sentences))

    def offer_screens(self, several: bool, audience_hidden: bool) -> None:
        """Show Swap if there are several screens, and highlight the button of a closed audience's window."""
        self.swap.setVisible(several)
        self.audience.setText("Show the audience's window" if audience_hidden else "Audience's window")
        self.audience.setObjectName("primary" if audience_hidden else "")
        self.audience.style().unpolish(self.audience)
        self.audience.style().polish(self.audience)
        self.audience.setToolTip("Show the audience's window (F7)")

    # Content.

    def refresh(self) -> None:
        """Update all parts to the current step."""
        player, lecture = self.player, self.player.lecture
        self.live.follow(lecture is not None and self.isVisible())
        self._list_steps()
        for push_button in (*self.buttons, self.stop, self.reset):
            push_button.setEnabled(lecture is not None)
        self.show_time()
        if lecture is None:
            self.where.setText("")
            self._show_title(NO_LECTURE)
            self.notes.setText("")
            self.card.hide()
            self._show_pictures()
            return
        step, number = lecture.steps[player.number], player.number
        self.where.setText(f"{number + 1} of {len(lecture.steps)}")
        self._show_title(step.title)
        following = lecture.steps[number + 1 : number + 2]
        self.next_title.setText(f"Next: {following[0].title}" if following else LAST)
        self.blank.setChecked(player.is_blank)
        self._show_notes()
        self._show_answer()
        self._show_votes()
        self.previous_button.setEnabled(number > 0)
        self.next_button.setEnabled(player.has_next())
        self._show_pictures()
        if self.isVisible():
            self.thumbnails.want(number + 1)

    def _show_title(self, title: str) -> None:
        """Show a title, elided to the room."""
        others = (self.where, self.audience, self.swap, self.gone, self.stop, self.reset, self.daytime)
        shown = [widget.sizeHint().width() for widget in others if not widget.isHidden()]
        room = self.width() - sum(shown) - (len(shown) + 3) * self.bar.spacing()
        metrics = QFontMetrics(self.title.font())
        self.title.setText(
            metrics.elidedText(escape_controls(title), Qt.TextElideMode.ElideRight, max(0, room))
        )
        self.title.setAccessibleName(title)
        self.title.setToolTip(plain_tip(title))

    def _list_steps(self) -> None:
        lecture = self.player.lecture
        if lecture is not self._listed_lecture:
            self._listed_lecture = lecture
            self.list.clear()
            for i, step in enumerate(lecture.steps if lecture else ()):
                asks = "  (question)" if step.change.question else ""
                self.list.addItem(escape_controls(f"{i + 1}  {step.title}{asks}"))
        if lecture and self.list.currentRow() != self.player.number:
            self.list.setCurrentRow(self.player.number)
            self.list.scrollToItem(self.list.currentItem())

    def _show_notes(self) -> None:
        notes, ink = self.player.notes(), self.theme.palette.muted
        html = f'<p style="color:{ink}">{NO_NOTES}</p>' if notes is None or not notes.html else notes.html
        if notes is not None and notes.foot:
            html += f'<p style="color:{ink}">{markup(notes.foot)}</p>'
        problems = self.player.text_problems()
        if problems:
            lines = "".join(f"<br>{markup(str(problem))}" for problem in problems)
            colour = self.theme.palette.bad
            html = f'<p style="color:{colour}"><b>The audience sees ??? for a number</b>{lines}</p>{html}'
        if html != self.notes.text():
            self.notes.setText(html)
            self.area.verticalScrollBar().setValue(0)

    def _show_answer(self) -> None:
        """Show the question's answer, even before the audience sees it."""
        player, step = self.player, self.player.step
        question = step.change.question if step else None
        answer = player.answer() if question else None
        self.card.setVisible(question is not None)
        self.reveal.setEnabled(question is not None and not player.is_revealed)
        self.next_button.setText(self._next_text(question is not None))
        if question is None:
            return
        visibility = "The audience sees it." if player.is_revealed else "The audience does not see it yet."
        ink = self.theme.palette
        wording = answer.wording if answer else question.wording(None)
        html = f"<p><b>{markup(wording.ask)}</b></p>{choices_html(wording)}"
        if answer is not None:
            html += f'<p><span style="color:{ink.good}"><b>Answer</b></span>&nbsp; {answer_html(answer)}</p>'
        self.answer.setText(f'{html}<p style="color:{ink.muted}">{visibility}</p>')

    def _show_votes(self) -> None:
        """Show how many phones of a hall have voted."""
        votes = self.player.votes
        self.votes.setText(votes)
        self.votes.setVisible(bool(votes))
        self.close_vote.setVisible(bool(votes))

    def _next_text(self, asks: bool) -> str:
        if self.player.is_playing:
            return "Next: end of the step"
        return "Next: the answer" if asks and not self.player.is_revealed else "Next step"

    def _show_pictures(self) -> None:
        player, lecture = self.player, self.player.lecture
        if lecture is None:
            self.current.show_image(None, NO_LECTURE)
            self.next.show_image(None)
            return
        over = "Blank: the audience sees nothing" if player.is_blank else ""
        if player.awaited is not None:
            over = f"Step {player.awaited + 1} is being prepared …"
        self.current.show_image(self.live.image, "", over)
        if player.number + 1 < len(lecture.steps):
            self.next.show_image(self.thumbnails.picture_of(player.number + 1), PREPARED)
        else:
            self.next.show_image(None, LAST)

    def show_time(self) -> None:
        """Show the elapsed time and the time of day."""
        self.gone.setText(time_text(self.clock.seconds()) if self.player.lecture else "")
        self.daytime.setText(time.strftime("%H:%M"))

    def toggle_clock(self) -> None:
        """Pause or resume the timer."""
        self.clock.toggle()
        self.stop.setProperty("picture", "pause" if self.clock.is_running else "play")
        paint_icon(self.stop, self.theme)
        self.show_time()

    def restart_clock(self) -> None:
        """Restart the timer from zero."""
        self.clock.restart()
        self.stop.setProperty("picture", "pause")
        paint_icon(self.stop, self.theme)
        self.show_time()

    def _reveal(self) -> None:
        self.player.reveal()

    def _ask_audience(self) -> None:
        self.audience_asked()

    # Opening and closing.

    def showEvent(self, event: QShowEvent) -> None:
        """Start the timer's updates and draw the pictures."""
        super().showEvent(event)
        self.setFocus()
        self._tick.start()
        self.refresh()
        self.thumbnails.draw_now(self.player.number + 1)
        self._show_pictures()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop the updates; the lecture continues."""
        self._tick.stop()
        self.live.follow(False)
        self.thumbnails.close()
        event.accept()
        self.closed()


def own_sheet(theme: Theme) -> str:
    """Build the style sheet of this window, added to the common one."""
    colours = theme.palette
    return (
        f"PresenterWindow {{ background: {colours.window}; }}"
        f"QPushButton#primary {{ font-size: {theme.px(18)}px; }}"
        f"QListWidget {{ background: {colours.panel}; color: {colours.text}; border: 1px solid {colours.border};"
        f" border-radius: {theme.px(8)}px; padding: {theme.px(4)}px; outline: none; }}"
        f"QListWidget::item {{ padding: {theme.px(4)}px {theme.px(6)}px; border-radius: {theme.px(4)}px; }}"
        f"QListWidget::item:hover {{ background: {colours.badge}; }}"
        f"QListWidget::item:selected {{ background: {colours.accent}; color: {colours.accent_text}; }}"
    )

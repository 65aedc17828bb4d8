"""The window: connects the parts of its frame with the stage, and says as one bookmark how all of it looks."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMainWindow, QWidget

from ..tracer.launch import Launch
from . import files, remembered, settings
from .actions import CUDA, WORK_ITEM, build_menu
from .arrivals import StartMoment, as_before, at_first_load
from .asking import Asking
from .bookmark import Bookmark, History, Setup
from .colouring import Colouring
from .frame import Frame
from .jobs import Jobs
from .look import Look
from .playhead import SPEEDS, Playhead
from .session import Session
from .speech import speak_actions
from .stage import Stage
from .theme import Theme
from .toolbar import SIDES
from .user_program import UserProgram

FRAME = 16  # milliseconds between two frames


class MainWindow(QMainWindow):
    """Panes, right column, timelines, transport.

    `settings_file` is where it is remembered, None for nowhere.
    """

    def __init__(self, jobs: Jobs, settings_file: Path | None = None) -> None:
        super().__init__()
        self.settings_file = settings_file
        self.settings, complaint = (
            settings.load(settings_file) if settings_file else (settings.Settings(), "")
        )
        self.program: UserProgram | None = None  # of the user's, once one was opened
        self.look, self.history, self.playhead = Look(self), History(), Playhead(self)
        self.stage = Stage(self.playhead, jobs, self)
        self.frame = Frame(self.playhead, self.stage, self.look.theme)
        self.notice, self.toolbar, self.side = self.frame.notice, self.frame.toolbar, self.frame.side
        self.asking, self.colouring = Asking(self), Colouring(self)
        self.setWindowTitle("Tilescope")
        self.setAcceptDrops(True)
        self.setCentralWidget(self.frame)
        menu, self.commands = build_menu(self)
        self.toolbar.menu.setMenu(menu)
        self._frames = QTimer(self, interval=FRAME, timerType=Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(lambda: self.playhead.advance(time.monotonic()))
        self._draw_soon = QTimer(self, interval=0, singleShot=True)
        self._draw_soon.timeout.connect(self.draw)
        self._connect()
        self.frame.transport.play.setFocus()
        if complaint:
            self.notice.error(complaint)

    def _connect(self) -> None:
        stage, toolbar, transport = self.stage, self.toolbar, self.frame.transport
        stage.changed.connect(self._refresh)
        stage.loaded.connect(self._load)
        stage.positioned.connect(self.draw)  # before Qt paints what was loaded, so that it is painted once
        stage.waiting.connect(self.frame.show_progress)
        stage.problem.connect(self.notice.error)
        stage.consent.connect(self._ask_consent)
        stage.slow.connect(self.asking.ask_patience)
        stage.turned.connect(self.frame.show_setups)
        self.playhead.changed.connect(self._tick)
        self.look.changed.connect(self._dress)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._turn)
        toolbar.setups_asked.connect(self.change_setups)
        toolbar.problem.connect(lambda text: self.notice.error(text) if text else self.notice.clear("error"))
        toolbar.timings.clicked.connect(lambda: self.commands["Timings"].trigger())
        transport.command.connect(lambda name: self.commands[name].trigger())
        transport.link_asked.connect(stage.set_link)

    @property
    def theme(self) -> Theme:
        """The colours and text sizes in use."""
        return self.look.theme

    def focused_session(self) -> Session | None:
        """Return the session of the pane in focus."""
        return self.stage.focused()

    def _turn(self, old: QWidget | None, new: QWidget | None) -> None:
        self.frame.turn_to(new)

    def _dress(self, theme: Theme) -> None:
        self.setFont(theme.font())
        self.frame.set_theme(theme)
        speak_actions([a for text, a in self.commands.items() if text not in (CUDA, WORK_ITEM)], theme.say)
        self._refresh()

    def _load(self, i: int) -> None:
        session = self.stage.sessions[i]
        if session is not None and session is not self.frame.panes[i].session:
            self.asking.offer_all(i, session.trace)
            files.note_opened(self, self.stage.setups[i].file)
        self.frame.load(i, session)
        self.frame.show_setups()

    def _tick(self) -> None:
        """Run the frames only while something moves."""
        if self.playhead.playing != self._frames.isActive():
            self._frames.start() if self.playhead.playing else self._frames.stop()

    def _refresh(self) -> None:
        if not self._draw_soon.isActive():
            self._draw_soon.start()

    def draw(self) -> None:
        """Draw the moment; called once a frame, however often the time changed."""
        self._draw_soon.stop()
        self.frame.draw()

    def bookmark(self) -> Bookmark:
        """Return everything that makes the window look as it does."""
        stage, playhead = self.stage, self.playhead
        return Bookmark(
            panes=stage.setups,
            selections=tuple(stage.selections),
            moment=playhead.moment if playhead.end else None,
            focus=stage.focus,
            link=stage.link_mode,
            speed=playhead.speed,
            loop=playhead.loop,
            shared=self.toolbar.shared,
            tab=self.side.tab,
            side=self.frame.side_wanted,
            colour_by=self.frame.colour,
            picture=self.frame.picture,
            **self.look.worn(),
        )

    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool:
        """Look as the bookmark says; return False, with the reason told, where a setup in it cannot be run."""
        stage, moment, setups = self.stage, mark.moment, mark.panes[: len(SIDES)]
        self._wear(mark)
        self.colouring.keep()
        self.frame.make_panes(len(setups), self.escape)
        first = start or (at_first_load if moment is None else lambda _: moment)
        shown = stage.show(setups, mark.selections, first)
        self.frame.make_panes(len(stage.setups), self.escape)
        stage.set_focus(min(mark.focus, len(stage.setups) - 1))
        self.frame.show_setups()
        return shown

    def _wear(self, mark: Bookmark) -> None:
        """Take from a bookmark everything but what runs."""
        self.look.show(mark.theme, mark.text_scale, mark.reduced_motion, mark.words)
        self.stage.link_mode = mark.link
        self.playhead.set_speed(mark.speed)
        self.playhead.set_loop(mark.loop)
        self.toolbar.shared = mark.shared
        self.side.show_tab(mark.tab)
        self.frame.side_wanted = mark.side
        self.frame.colour_by(mark.colour_by)
        self.frame.show_picture(mark.picture)

    def change_setups(self, setups: tuple[Setup, ...]) -> None:
        """Run other setups in place of these; Back returns here."""
        here, stage = self.bookmark(), self.stage
        if setups == stage.setups:
            return
        before = len(self.frame.panes)
        self.frame.make_panes(len(setups), self.escape)
        self.asking.forget()  # before the new setups may ask something
        self.colouring.leave()
        if not stage.show(setups, here.selections, as_before(stage)):
            self.frame.make_panes(before, self.escape)
            return
        self.history.leave(here)
        self.frame.show_setups()

    def travel(self, way: int) -> None:
        """Go back (-1) or forward (1) in what was shown."""
        here = self.bookmark()
        mark = self.history.back(here) if way < 0 else self.history.forward(here)
        if mark is not None:
            self.asking.forget()
            self.show_bookmark(msgspec.structs.replace(mark, **self.look.worn()))

    def _ask_consent(self, pane: int, launch: Launch) -> None:
        name = Path(self.stage.setups[pane].file).name
        sentence = (
            f"The kernel in {name} came with that file. Read it under Source; it runs only if you agree."
        )
        self.frame.show_tab("source")
        self.notice.ask(sentence, [("Run it", lambda: self.stage.trust(pane, launch))])

    def change_speed(self, way: int) -> None:
        """Take the next speed of the list that is faster (1) or slower (-1)."""
        speeds = [s for s in SPEEDS if (s - self.playhead.speed) * way > 0]
        if speeds:
            self.playhead.set_speed(min(speeds) if way > 0 else max(speeds))

    def toggle_link(self) -> None:
        """Link the panes the other way."""
        self.stage.set_link("moment" if self.stage.link_mode == "progress" else "progress")
        self.frame.transport.show_link(self.stage.link_mode, len(self.frame.panes) > 1)

    def other_pane(self) -> None:
        """Turn to the other pane."""
        self.stage.set_focus((self.stage.focus + 1) % max(len(self.frame.panes), 1))

    def toggle_full_screen(self) -> None:
        """Fill the screen, or not."""
        self.showNormal() if self.isFullScreen() else self.showFullScreen()

    def toggle_bar(self) -> None:
        """Hide the bar at the top, for a lecture, or show it."""
        self.toolbar.setVisible(self.toolbar.isHidden())

    def escape(self) -> None:
        """Cancel the tracing, else close the message, else leave the full screen."""
        if self.program is not None and self.program.stop():
            self.notice.tell("The program was ended.")
        elif self.stage.cancel():
            self.asking.forget()
            self.notice.tell("The tracing was cancelled; the picture is that of the launch before.")
        elif self.notice.is_shown():
            self.toolbar.restore()
            self.notice.clear()
        elif self.isFullScreen():
            self.showNormal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Return do what Space does elsewhere, since Space plays: press a button, open a list."""
        widget = QApplication.focusWidget()
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif isinstance(widget, QAbstractButton):
            widget.click()
        elif isinstance(widget, QComboBox):
            widget.showPopup()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take traces and NumPy arrays."""
        if files.dropped(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        for path in files.dropped(event.mimeData())[:1]:
            event.acceptProposedAction()
            files.take_dropped(self, path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how the window looks, and end what runs."""
        self._frames.stop()
        self.playhead.pause()
        self.stage.cancel()
        if self.program is not None:
            self.program.close()
        remembered.remember(self)
        self.stage.jobs.close()
        self.frame.spreads.close()
        self.frame.types.close()
        event.accept()

"""The window: connects its central widget with the stage, and says as one bookmark how all of it looks."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import msgspec
from PySide6.QtCore import QByteArray, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMainWindow, QWidget

from ..control.session_jobs import SessionJobs
from ..control.stage import Stage
from ..control.start_moment import StartMoment, as_before, at_first_load
from ..model.bookmark import Bookmark, History, Setup
from ..model.playhead import Playhead
from ..model.session import Session
from ..model.settings import Settings, StoredSettings
from ..model.visible_text import visible
from ..widgets.appearance import Look
from ..widgets.theme import Theme
from .actions import (
    Command,
    Commands,
    Menu,
    file_commands,
    go_commands,
    keys,
    offer_recent,
    offer_text_size,
    play_commands,
    view_commands,
)
from .central_widget import CentralWidget
from .colouring import Colouring
from .dialogs import show_about, show_keys
from .launch_questions import LaunchQuestions
from .open_save import FileOperations, usable_paths
from .toolbar.toolbar import PANE_NAMES

FRAME_INTERVAL = 16  # milliseconds between two frames
DEFAULT_SIZE = QSize(1600, 900)


class MainWindow(QMainWindow):
    """Panes, right column, timelines, transport.

    `settings_file` is where it is remembered, None for nowhere.
    """

    def __init__(self, jobs: SessionJobs, settings_file: Path | None = None) -> None:
        super().__init__()
        self.stored_settings = StoredSettings(settings_file)
        self.look, self.history, self.playhead = Look(self), History(), Playhead(self)
        self.stage = Stage(self.playhead, jobs, self)
        self.central = CentralWidget(self.playhead, self.stage, self.look.theme)
        self.notice, self.toolbar, self.side = self.central.notice, self.central.toolbar, self.central.side
        self.files = FileOperations(
            self, self.stage, self.toolbar, self.notice, self.stored_settings, self.change_setups
        )
        self.questions = LaunchQuestions(
            self.stage, self.notice, self.change_setups, lambda: self.central.show_tab("source")
        )
        self.colouring = Colouring(self.stage, self.central, self.draw)
        self.setWindowTitle("Tilescope")
        self.setAcceptDrops(True)
        self.setCentralWidget(self.central)
        self._build_menu()
        self._frames = QTimer(self, interval=FRAME_INTERVAL, timerType=Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(lambda: self.playhead.advance(time.monotonic()))
        self._draw_soon = QTimer(self, interval=0, singleShot=True)
        self._draw_soon.timeout.connect(self.draw)
        self._connect()
        self.central.transport.play.setFocus()
        if self.stored_settings.problem:
            self.notice.error(self.stored_settings.problem)

    def all_commands(self) -> Commands:
        """Return every command of the window."""
        return {
            "File": file_commands(self.files, self.close),
            "Play": play_commands(self.playhead, self.stage, self.central),
            "Go": go_commands(self.travel, self.stage, self.central, self._show_timings, self.escape),
            "View": view_commands(self, self.central, self.look, self.colouring),
            "Help": [
                Command("Keys", "F1", lambda: show_keys(self, self.theme, keys(self.all_commands()))),
                Command("About Tilescope", "", lambda: show_about(self, self.theme)),
            ],
        }

    def _build_menu(self) -> None:
        self.menu = Menu(self, self.all_commands())
        self.commands = self.menu.entries
        offer_recent(self.menu.parts["File"], self.files)
        offer_text_size(self.menu.parts["View"], self.look)
        self.toolbar.menu.setMenu(self.menu)

    def _show_timings(self) -> None:
        from ..timings.window import show_timings  # what it needs is not loaded before

        show_timings(self, self.look)

    def _connect(self) -> None:
        stage, toolbar, transport = self.stage, self.toolbar, self.central.transport
        stage.changed.connect(self._refresh)
        stage.loaded.connect(self._load)
        stage.positioned.connect(self.draw)  # before Qt paints what was loaded, so that it is painted once
        stage.waiting.connect(self.central.show_progress)
        stage.problem.connect(self.notice.error)
        stage.focus_changed.connect(self.central.show_setups)
        self.central.cancelled.connect(self.escape)
        self.playhead.changed.connect(self._tick)
        self.look.changed.connect(self._set_theme)
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

    @property
    def settings(self) -> Settings:
        """What is remembered from one run to the next."""
        return self.stored_settings.current

    def focused_session(self) -> Session | None:
        """Return the session of the pane in focus."""
        return self.stage.focused()

    def _turn(self, old: QWidget | None, new: QWidget | None) -> None:
        self.central.turn_to(new)

    def _set_theme(self, theme: Theme) -> None:
        self.setFont(theme.font())
        self.central.set_theme(theme)
        self.menu.speak(theme.say)
        self._refresh()

    def _load(self, i: int) -> None:
        session = self.stage.sessions[i]
        if session is not None and session is not self.central.panes[i].session:
            self.questions.offer_all(i, session.trace)
            self.files.note_opened(self.stage.setups[i].file)
        self.central.load(i, session)
        self.central.show_setups()

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
        self.central.draw()

    def bookmark(self) -> Bookmark:
        """Return everything that makes the window look as it does."""
        stage, playhead = self.stage, self.playhead
        return Bookmark(
            panes=stage.setups,
            selections=tuple(stage.selections),
            moment=playhead.moment if playhead.end else None,
            focus=stage.focus,
            link=stage.link_mode,
            speed=playhead.speed if playhead.is_speed_chosen else None,
            loop=playhead.loop,
            shared=self.toolbar.shared,
            tab=self.side.tab,
            side=self.central.side_wanted,
            colour_by=self.central.colour,
            picture=self.central.picture,
            **self.look.bookmark_fields(),
        )

    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool:
        """Look as the bookmark says; return False, with the reason shown, where a setup in it cannot be run."""
        stage, moment, setups = self.stage, mark.moment, mark.panes[: len(PANE_NAMES)]
        if not setups:
            return False
        self._take_over(mark)
        self.colouring.keep()
        self.central.make_panes(len(setups))
        first = start or (at_first_load if moment is None else lambda _: moment)
        shown = stage.show(setups, mark.selections, first)
        self.central.make_panes(len(stage.setups))
        stage.set_focus(min(mark.focus, len(stage.setups) - 1))
        self.central.show_setups()
        return shown

    def _take_over(self, mark: Bookmark) -> None:
        """Take from a bookmark everything but what runs."""
        self.look.show(mark.theme, mark.text_scale, mark.reduced_motion, mark.words)
        self.stage.link_mode = mark.link
        self.playhead.set_speed(mark.speed)
        self.playhead.set_loop(mark.loop)
        self.toolbar.shared = mark.shared
        self.side.show_tab(mark.tab)
        self.central.side_wanted = mark.side
        self.central.colour_by(mark.colour_by)
        self.central.show_picture(mark.picture)

    def change_setups(self, setups: tuple[Setup, ...]) -> None:
        """Run other setups in place of these; Back returns here."""
        here, stage = self.bookmark(), self.stage
        if setups == stage.setups:
            return
        before = len(self.central.panes)
        self.central.make_panes(len(setups))
        self.questions.forget()  # before the new setups may ask something
        self.colouring.leave()
        if not stage.show(setups, here.selections, as_before(stage)):
            self.central.make_panes(before)
            return
        if here.panes:
            self.history.leave(here)
        self.central.show_setups()

    def travel(self, direction: int) -> None:
        """Go back (-1) or forward (1) in what was shown."""
        here = self.bookmark()
        mark = self.history.back(here) if direction < 0 else self.history.forward(here)
        if mark is not None:
            self.questions.forget()
            self.show_bookmark(msgspec.structs.replace(mark, **self.look.bookmark_fields()))

    def escape(self) -> None:
        """Cancel the tracing, else close the message, else leave the full screen."""
        if self.files.end_program():
            self.notice.inform("The program was ended.")
        elif self.stage.cancel():
            self.questions.forget()
            self.notice.inform("The tracing was cancelled; the picture is that of the launch before.")
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
        if usable_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        for path in usable_paths(event.mimeData())[:1]:
            event.acceptProposedAction()
            self.files.take_dropped(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how the window looks, and end what runs."""
        self._frames.stop()
        self.playhead.pause()
        self.stage.cancel()
        self.files.close()
        self._remember()
        self.stage.jobs.close()
        self.central.spreads.close()
        self.central.types.close()
        event.accept()

    def restore(self) -> None:
        """Take the geometry that the window had last."""
        room = self.screen().availableSize() * 0.95
        self.resize(room.boundedTo(DEFAULT_SIZE))
        if self.settings.geometry:
            self.restoreGeometry(QByteArray(self.settings.geometry))
        self.central.restore_splitters(self.settings.splitters)

    def _remember(self) -> None:
        """Write what the window shows and its geometry into its settings file, if it has one."""
        if self.stored_settings.path is None:
            return
        problem = self.stored_settings.write(
            bookmark=self._lasting(),
            geometry=bytes(self.saveGeometry().data()),
            splitters=self.central.splitter_states(),
        )
        if problem:
            print(visible(problem), file=sys.stderr)

    def _lasting(self) -> Bookmark:
        """Return the bookmark, without panes where they show traces that cannot be opened again."""
        mark, sessions = self.bookmark(), self.stage.sessions
        files = [(setup.file, s) for setup, s in zip(mark.panes, sessions, strict=True) if setup.file]
        if any(session is None or self.files.is_temporary(file) for file, session in files):
            return msgspec.structs.replace(mark, panes=(), selections=(), moment=None, focus=0)
        return mark

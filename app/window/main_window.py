"""The main window: connects its central widget with the stage, and saves and restores its state as a bookmark."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMainWindow, QWidget
from shiboken6 import isValid

from ..control.session_jobs import SessionJobs
from ..control.stage import Stage
from ..control.start_moment import StartMoment, as_before, at_first_load
from ..gpu.place import GPU, is_gpu
from ..lecture.library import TOUR
from ..model.bookmark import Bookmark, History, Setup, without_edited_sources
from ..model.playhead import Playhead
from ..model.session import Selection, Session
from ..model.settings import Settings, StoredSettings
from ..model.visible_text import escape_controls
from ..views.common.wording import coordinates_text
from ..widgets.appearance import Look
from ..widgets.command import LINE, Command, Commands
from ..widgets.controls import Combo
from ..widgets.picture_drag import PictureDrag
from ..widgets.theme import Theme
from .actions import (
    PALETTE,
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
from .editing.kernel_editing import KernelEditing, WindowParts
from .exercise.commands import allow_exercise, exercise_commands, offer_exercises
from .exercise.controller import ExerciseController, ExerciseParts
from .launch_questions import LaunchQuestions
from .lecture.commands import allow, lecture_commands, offer_lectures
from .lecture.lectures import Lectures
from .lecture.lectures import WindowParts as LecturePlaces
from .open_save import LECTURE_SUFFIX, FileOperations, usable_paths
from .parameter_scrub import ParameterScrub
from .room import read_room
from .share import ShareMenu, ShareParts
from .toolbar.toolbar import PANE_NAMES
from .writing.authoring import LectureAuthoring

if TYPE_CHECKING:
    from ..charts.choice import Choice
    from ..widgets.vector_picture import PictureParts
    from .presenter.presenting import Presenting

PRESENTER = "Presenter's window"
FRAME_INTERVAL = 16  # milliseconds between two frames
DEFAULT_SIZE = QSize(1600, 900)


class MainWindow(QMainWindow):
    """The main window with panes, inspector, timelines and transport.

    settings_file: stores its state between runs, None for no file.
    """

    def __init__(self, jobs: SessionJobs, settings_file: Path | None = None) -> None:
        super().__init__()
        self.stored_settings = StoredSettings(settings_file)
        self.look, self.history, self.playhead = Look(self), History(), Playhead(self)
        self.stage = Stage(self.playhead, jobs, self)
        self.central = CentralWidget(self.playhead, self.stage, self.look.theme)
        self.notice, self.toolbar, self.side = self.central.notice, self.central.toolbar, self.central.side
        self.toolbar.sizes = self.settings.sizes
        self.files = FileOperations(
            self, self.stage, self.toolbar, self.notice, self.stored_settings, self.change_setups,
            self._write_vectors,
        )  # fmt: skip
        self.files.show_output = self.side.show_output
        self.questions = LaunchQuestions(
            self.stage, self.notice, self.change_setups, lambda: self.central.show_tab("source")
        )
        self._timings_of: tuple[Choice, str] | None = None  # the chart shown last for the panes
        self._timings: QWidget | None = None  # the timings window, once it was opened
        self.colouring = Colouring(self.stage, self.central, self.draw)
        # It continues as soon as the stage is settled; the slots connected before must run first.
        self.scrub = ParameterScrub(self.stage, self._run, self.bookmark, self.history, self)
        central = self.central
        self.lectures = Lectures(
            LecturePlaces(
                self,
                central,
                central.foot,
                central.caption,
                self.notice,
                central.show_layout,
            ),
            self.stage,
            self.look,
            self.stored_settings,
            self.bookmark,
            self.show_bookmark,
        )
        self.lectures.asking.connect(central.hide_verdicts)
        self.lectures.player.compiled_asked.connect(central.compiling.want_too)
        central.compiling.counted.connect(self.lectures.player.take_compiled)
        self.presenting: Presenting | None = None  # created on first use
        self.editing = KernelEditing(
            self,
            self.stage,
            WindowParts(self.side.source, self.notice, central.body, central.show_tab),
            self.look.theme,
            self.files,
            self.change_setups,
        )
        self.side.fix_asked.connect(self.editing.editing.apply_fix)
        self.editing.remedies.proved.connect(self.side.show_findings)
        self.exercises = ExerciseController(
            ExerciseParts(
                self, self.stage, self.side.source, self.notice, central.show_tab, central.set_side_width
            ),
            self.look,
            self.lectures,
            self.bookmark,
            self.show_bookmark,
        )
        self.editing.remedies.proved.connect(self.exercises.work.take_proven)
        central.is_own_file = self._is_temporary
        self.editing.editing.is_suspended = self.exercises.work.is_here
        self.desk = LectureAuthoring(self, self.lectures, self.stage, self._screen, self.files.launch_of)
        self.notice.has_audience = self._has_audience
        self.lectures.player.changed.connect(self.notice.refresh)
        self.desk.writing_changed.connect(self.notice.refresh)
        self.setWindowTitle("Tilescope")
        self.setAcceptDrops(True)
        self.setCentralWidget(self.central)
        PictureDrag(self.toolbar, self, partial(self.notice.error, cause="file"))
        self._build_menu()
        self._build_share()
        self._frames = QTimer(self, interval=FRAME_INTERVAL, timerType=Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(lambda: self.playhead.advance(time.monotonic()))
        self._draw_soon = QTimer(self, interval=0, singleShot=True)
        self._draw_soon.timeout.connect(self._draw_in_turn)
        self._has_new = False  # whether loaded sessions are not drawn yet
        self._paint_soon = QTimer(self, interval=0, singleShot=True)
        self._paint_soon.timeout.connect(lambda: self.central.hold(False))
        self._connect()
        self.central.transport.play.setFocus()
        if self.stored_settings.problem:
            self.notice.error(self.stored_settings.problem)

    def all_commands(self) -> Commands:
        """List every command of the window, by menu."""
        return {
            "File": file_commands(self.files, self.copy_command, self.open_render_dialog, self.leave),
            "Play": play_commands(self.playhead, self.stage, self.central),
            "Go": go_commands(
                self.travel, self.stage, self.central, self._show_timings_of_panes, self.escape
            ),
            "Kernel": self.editing.commands(),
            "Lectures": [
                *lecture_commands(self.lectures),
                *self._presenter_commands(),
                *self.desk.commands(),
            ],
            "Exercises": exercise_commands(self.exercises),
            "View": view_commands(self, self.central, self.look, self.colouring, self._toggle_layout),
            "Help": [
                Command("Two-minute tour", "", self._show_tour),
                Command(PALETTE, "Ctrl+Shift+P", self._show_palette),
                LINE,
                Command("Keyboard shortcuts", "F1", self._show_keys),
                Command("About Tilescope", "", self._show_about),
            ],
        }

    def _show_keys(self) -> None:
        from .dialogs import show_keys  # loaded on first use

        show_keys(self, self.theme, keys(self.all_commands()))

    def _show_palette(self) -> None:
        from .palette import (  # loaded on first use
            command_entries,
            exercise_entries,
            lecture_entries,
            scenario_entries,
            shortcut_entries,
            show_palette,
        )

        pick = partial(self.toolbar.pick, self.stage.focus)
        entries = [
            *command_entries(self.all_commands(), self.commands),
            *scenario_entries(self.toolbar.scenarios.values(), pick),
            *lecture_entries(self.lectures),
            *exercise_entries(self.exercises),
            *shortcut_entries(self._show_keys),
        ]
        show_palette(self, self.theme, entries)

    def _show_tour(self) -> None:
        self.lectures.open(TOUR)

    def _show_about(self) -> None:
        from .dialogs import show_about  # loaded on first use

        show_about(self, self.theme)

    def _write_vectors(self, parts: PictureParts, path: Path) -> None:
        from .vector_picture import write_vector_picture  # loaded on first use

        write_vector_picture(self.central, parts, path)

    def _build_menu(self) -> None:
        self.menu = Menu(self, self.all_commands())
        self.commands = self.menu.entries
        offer_recent(self.menu.parts["File"], self.files)
        offer_lectures(self.menu.parts["Lectures"], self.lectures)
        allow(self.menu.entries, self.lectures)
        self.desk.allow(self.menu.entries)
        offer_exercises(self.menu.parts["Exercises"], self.exercises)
        allow_exercise(self.menu.entries, self.exercises)
        offer_text_size(self.menu.parts["View"], self.look)
        self.toolbar.menu.setMenu(self.menu)

    def _build_share(self) -> None:
        lecture = self.lectures.player
        self.share = ShareMenu(
            ShareParts(
                self, self.notice, self.files.save_picture, self.open_render_dialog,
                lambda: self.stage.focused() is not None, lambda: lecture.lecture, self.files.folder,
            )
        )  # fmt: skip
        self.toolbar.share.setMenu(self.share)
        self.lectures.page_asked.connect(self.share.ask_for_page)

    def _toggle_layout(self) -> None:
        """Enter or leave full screen with a lecture; without one, switch the layout."""
        if not self.lectures.show_full():
            self.central.toggle_layout()

    def _show_timings(self, choice: Choice | None = None, measurement: str = "") -> None:
        """Show the timings, with this chart of a measurement if one is given."""
        from ..timings.window import show_timings  # loaded on first use

        timings = show_timings(self, self.look)
        if timings is not self._timings:
            self._timings = timings
            timings.job.saved.connect(self.central.measured.renew)
        if choice is not None:
            timings.show_measured(choice, measurement)

    def _show_timings_of_panes(self) -> None:
        """Show the timings of the panes; if these were shown last, leave the window as it is."""
        chart = self.central.timings()
        if chart is None or chart == self._timings_of:
            self._show_timings()
        else:
            self._timings_of = chart
            self._show_timings(*chart)

    def _presenter_commands(self) -> list[Command]:
        return [LINE, Command(PRESENTER, "F7", self.toggle_presenter)]

    def open_render_dialog(self, suffix: str = "") -> None:
        """Open the dialog that renders the current window as a film or page, with a kind of file chosen."""
        from .recording.opening import open_render_dialog  # loaded on first use

        places, room = (self.notice, self.files.folder), read_room(self.central)
        dialog = open_render_dialog(
            self, self.theme, self.stage, self._screen, *places, room, self.lectures.caption()
        )
        if dialog is not None and suffix and not dialog.is_recording:
            dialog.fields.choose_kind(suffix)

    def toggle_presenter(self) -> None:
        """Open the presenter's window, close it if it is in front, or raise it."""
        if self.presenting is None:
            from .lecture.step_picture import StepPictures  # loaded on first use
            from .presenter.presenting import Presenting

            self.presenting = Presenting(
                self, self.lectures.player, self.look, lambda: StepPictures(self.stage.jobs, self._make_picture_window),
                self.all_commands, self.bookmark, self.leave, self.notice,
            )  # fmt: skip
        self.presenting.toggle()

    def _has_audience(self) -> bool:
        """Return True if an audience sees this window: a lecture is in full screen or has a presenter's window."""
        if self.lectures.player.lecture is None or self.desk.is_writing():
            return False
        return self.isFullScreen() or (self.presenting is not None and self.presenting.is_open)

    def changeEvent(self, event: QEvent) -> None:
        """Show or hide messages when the window enters or leaves full screen."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.notice.refresh()

    def _make_picture_window(self, jobs: SessionJobs) -> MainWindow:
        """Create a window for pictures that shares the measurements and timelines of this one."""
        window = MainWindow(jobs)
        window.central.measured.sources = self.central.measured.sources
        window.central.charts.recorded.timelines = self.central.charts.recorded.timelines
        window.central.charts.recorded.waits = False
        return window

    def leave(self) -> None:
        """Close this window and the presenter's."""
        if self.presenting is not None:
            self.presenting.end()
        self.close()

    def _connect(self) -> None:
        stage, toolbar, transport = self.stage, self.toolbar, self.central.transport
        stage.changed.connect(self._refresh)
        stage.loaded.connect(self._load)
        stage.positioned.connect(self.central.show_setups)
        stage.positioned.connect(self._refresh)
        stage.waiting.connect(self.central.show_progress)
        stage.problem.connect(partial(self.notice.error, cause="launch"))
        stage.focus_changed.connect(self.central.show_setups)
        self.central.cancelled.connect(self.escape)
        self.central.selected.connect(self._select)
        self.central.timings_asked.connect(self._show_timings)
        self.playhead.changed.connect(self._tick)
        self.look.changed.connect(self._set_theme)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._turn)
        toolbar.setups_asked.connect(self.change_setups)
        for field in (toolbar, transport.speed, transport.link, transport.colour):
            field.left.connect(self.central.focus_pictures)
        toolbar.may_come.connect(stage.jobs.compile_ahead)
        stage.asked.connect(toolbar.cancel_compiling)
        stage.settled.connect(toolbar.schedule_compiling)
        toolbar.moved.connect(self.scrub.request)
        toolbar.rested.connect(self.scrub.end_drag)
        self.scrub.began.connect(self._begin_scrub)
        self.scrub.ended.connect(self._end_scrub)
        toolbar.problem.connect(self._show_field_problem)
        toolbar.timings.clicked.connect(lambda: self.commands["Timings"].trigger())
        transport.command.connect(lambda name: self.commands[name].trigger())
        transport.link_asked.connect(stage.set_link)
        transport.colour_asked.connect(self.colouring.choose)

    def _show_field_problem(self, sentence: str) -> None:
        """Show an error of the fields, or clear it if there is none."""
        if sentence:
            self.notice.error(sentence, "fields")
        else:
            self.notice.clear(cause="fields")
            self.notice.clear(cause="launch")  # it was caused by the values of the fields

    def _begin_scrub(self) -> None:
        self.questions.hold()
        self.central.keep_pictures(True)

    def _end_scrub(self) -> None:
        self.central.keep_pictures(False)
        self.toolbar.end_drag()
        self.questions.release()

    @property
    def theme(self) -> Theme:
        """The colours and text sizes in use."""
        return self.look.theme

    @property
    def settings(self) -> Settings:
        """The settings stored between runs."""
        return self.stored_settings.current

    def focused_session(self) -> Session | None:
        """Return the session of the pane in focus."""
        return self.stage.focused()

    def _turn(self, old: QWidget | None, new: QWidget | None) -> None:
        """Follow the focus to a pane; if Qt moves it from a hidden widget to the toolbar, focus the pictures."""
        if (
            _is_gone(old)
            and new is not None
            and self.toolbar.isAncestorOf(new)
            and not _are_side_by_side(old, new)
        ):
            self.central.focus_pictures()
        else:
            self.central.turn_to(new)

    def _set_theme(self, theme: Theme) -> None:
        self.setFont(theme.font())
        self.central.set_theme(theme)
        self.desk.set_theme(theme)
        self.editing.set_theme(theme)
        self.exercises.set_theme(theme)
        self.menu.speak(theme.translate)
        self._refresh()

    def _load(self, i: int) -> None:
        session = self.stage.sessions[i]
        is_new = session is not None and session is not self.central.panes[i].session
        if is_new and session is not None and self.lectures.player.lecture is None:
            self.questions.offer_all(i, session.trace)
            self._note_opened(self.stage.setups[i].file)
        if is_new:
            self._has_new = True
            self.central.hold(True)  # until it is drawn
        self.central.load(i, session)
        if not is_new:  # a new session is shown once its first moment is known
            self.central.show_setups()

    def _note_opened(self, file: str) -> None:
        if not self._is_temporary(file):
            self.files.note_opened(file)

    def _tick(self) -> None:
        """Run the frame timer only while the playhead plays."""
        if self.playhead.playing == self._frames.isActive():
            return
        if not self.playhead.playing:
            self._frames.stop()
            return
        self._frames.start()
        self.playhead.advance(time.monotonic())  # sets the time of the first frame

    def _refresh(self) -> None:
        if not self._draw_soon.isActive():
            self._draw_soon.start()

    def _draw_in_turn(self) -> None:
        """Draw the moment now, and paint loaded sessions in the next turn of the event loop: both are slow."""
        try:
            self._draw()
        finally:  # otherwise painting would stay suspended
            if self.central.is_held:
                self._paint_soon.start()

    def draw(self) -> None:
        """Draw the moment at once, and resume painting."""
        try:
            self._draw()
        finally:
            if self.central.is_held:
                self.central.hold(False)

    def _draw(self) -> None:
        self._draw_soon.stop()
        self.central.draw()
        if self._has_new:
            self._has_new = False
            self.central.mark_changes()

    def bookmark(self) -> Bookmark:
        """Return the complete state of the window."""
        stage, playhead = self.stage, self.playhead
        return Bookmark(
            panes=stage.setups,
            selections=tuple(stage.selections),
            moment=playhead.moment if playhead.end else None,
            focus=stage.focus,
            link=stage.link_mode,
            time=self.central.clocks.choice,
            nearest=self.central.nearest,
            compiled=self.central.compiled,
            speed=playhead.speed if playhead.is_speed_chosen else None,
            loop=playhead.loop,
            shared=self.toolbar.shared,
            tab=self.side.tab,
            side=self.central.side_wanted,
            colour_by=self.central.colour,
            picture=self.central.picture,
            layout=self.central.layout_choice,
            zoom=self.central.zoom,
            chart=self.central.charts.text,
            spotlight=self.central.spotlight,
            **self.look.bookmark_fields(),
        )

    def _screen(self) -> Bookmark:
        """Return the bookmark, with the actual visibility of the inspector and the compiled counters."""
        side = "hidden" if self.side.isHidden() else "shown"
        compiled = "shown" if self.central.shows_compiled() else "hidden"
        return msgspec.structs.replace(self.bookmark(), side=side, compiled=compiled)

    def copy_command(self) -> None:
        """Copy a command to the clipboard that draws the current window."""
        from .copy_command import LectureStep  # loaded on first use

        player = self.lectures.player
        step = None
        if player.lecture is not None:
            asking = self.lectures.is_asking()
            step = LectureStep(player.lecture.path, player.number, asking, player.chosen)
        if self.exercises.work.is_here():
            self.notice.error("An exercise cannot be copied as a command; save the picture instead.")
        else:
            self.files.copy_command(self._screen(), read_room(self.central), self.theme.name, step)

    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool:
        """Restore the state of a bookmark; return False, with the reason shown, if one of its setups cannot be run."""
        self.scrub.stop()
        stage, moment, setups = self.stage, mark.moment, mark.panes[: len(PANE_NAMES)]
        if not setups:
            return False
        first = start or (at_first_load if moment is None else lambda _: moment)
        with self.central.batch_updates():
            self._take_over(mark)
            self.colouring.keep()
            self.central.make_panes(len(setups))
            shown = stage.show(setups, mark.selections, first)
            self.central.make_panes(len(stage.setups))
            stage.set_focus(min(mark.focus, len(stage.setups) - 1))
            self.central.show_setups()
            self.draw()
        return shown

    def _take_over(self, mark: Bookmark) -> None:
        """Restore everything from a bookmark except its setups."""
        self.look.show(mark.theme, mark.text_scale, mark.reduced_motion, mark.words)
        self.stage.link_mode = mark.link
        self.playhead.set_speed(mark.speed)
        self.playhead.set_loop(mark.loop)
        self.toolbar.shared = mark.shared
        self.side.show_tab(mark.tab)
        self.central.side_wanted = mark.side
        self.central.colour_by(mark.colour_by)
        self.central.show_spotlight(mark.spotlight)
        self.central.show_picture(mark.picture)
        self.central.show_layout(mark.layout)
        self.central.show_zoom(mark.zoom)
        self.central.clocks.choose(mark.time)
        self.central.show_nearest(mark.nearest)
        self.central.show_compiled(mark.compiled)
        self.central.charts.show(mark.chart)

    def _select(self, pane: int, selection: Selection) -> None:
        """Select a block and thread; if the time moves for that, report it, and Back returns."""
        here, before = self.bookmark(), self.stage.moments()
        self.stage.select(pane, selection)
        session, after = self.stage.sessions[pane] if pane < len(before) else None, self.stage.moments()
        if session is None or after == before or self.playhead.playing:
            return
        self.history.leave(here)
        block = coordinates_text(self.stage.selections[pane].block, session.trace.grid)
        self.notice.inform(f"Block {block}, moment {int(after[pane]):,} · Alt+Left to go back")

    def show_program(self, path: str, mark: Bookmark) -> None:
        """Run a program with the look of a bookmark, without its panes; show a page until the launches are traced."""
        from .program.page import ProgramPage  # the window starts without it

        self._take_over(mark)
        page = ProgramPage(self.central.theme)
        self.central.show_page(page)
        self.files.run_first(path, page)

    def change_setups(self, setups: tuple[Setup, ...]) -> None:
        """Replace the setups; Back returns to the current ones."""
        self.scrub.stop()
        here = self.bookmark()
        if setups != here.panes and self._run(setups, here.selections, as_before(self.stage)) and here.panes:
            self.history.leave(here)

    def _run(self, setups: tuple[Setup, ...], selections: tuple[Selection, ...], start: StartMoment) -> bool:
        """Replace the setups; return False, with nothing changed, if they are refused."""
        before = len(self.central.panes)
        self.central.make_panes(len(setups))
        self.questions.forget()  # before the new setups may ask something
        self.colouring.leave()
        self.central.remember_numbers()
        if not self.stage.show(setups, selections, start):
            self.central.make_panes(before)
            return False
        self.central.charts.show(GPU if is_gpu(self.central.charts.text) else "")
        if self.stage.setups != setups:  # the user has to agree first
            self.toolbar.restore()
        self.central.show_setups()
        return True

    def travel(self, direction: int) -> None:
        """Go back (-1) or forward (1) in the history."""
        self.scrub.stop()
        here = self.bookmark()
        mark = self.history.back(here) if direction < 0 else self.history.forward(here)
        if mark is not None:
            self.questions.forget()
            look = self.look.bookmark_fields() | {"layout": here.layout}
            self.show_bookmark(msgspec.structs.replace(mark, **look))

    def escape(self) -> None:
        """Cancel the tracing, else close the message, else end the spotlight, else leave full screen."""
        if self.scrub.go_back() or self.lectures.escape_first():
            return
        leaves = self._leave_field()
        if self.editing.editing.cancel():
            self.notice.inform("The edited kernel was stopped; the picture shows the previous version.")
        elif self.files.end_program():
            self.notice.inform("The program was ended.")
        elif self.stage.cancel():
            self.questions.forget()
            self.notice.inform("The tracing was cancelled; the picture shows the previous launch.")
        elif leaves:
            return
        elif self.notice.is_shown():
            self.toolbar.restore()
            self.notice.close_newest()
        elif self.lectures.escape_last():
            return
        elif self.central.spotlight:
            self.central.show_spotlight(())
            self.draw()
        elif self.central.charts.text:
            self.central.charts.leave()
        elif self.isFullScreen():
            self.showNormal()

    def _leave_field(self) -> bool:
        """Move the focus from a field to the pictures; return False if no field had it."""
        widget = QApplication.focusWidget()
        if self.toolbar.has_focus_in_field():
            self.toolbar.restore()
            self.toolbar.problem.emit("")
        elif not isinstance(widget, Combo) or not self.isAncestorOf(widget):
            return False
        self.central.focus_pictures()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press buttons and open lists with Return, since Space plays."""
        widget = QApplication.focusWidget()
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif isinstance(widget, QAbstractButton):
            widget.click()
        elif isinstance(widget, QComboBox):
            widget.showPopup()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files that can be opened here."""
        if usable_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first dropped file."""
        for path in usable_paths(event.mimeData())[:1]:
            event.acceptProposedAction()
            if path.lower().endswith(LECTURE_SUFFIX):
                self.lectures.open(Path(path))
            else:
                self.files.take_dropped(path)

    def showEvent(self, event: QShowEvent) -> None:
        """Delay the loading of sessions until the first paint."""
        self.stage.jobs.wait_for_first_paint(self)
        super().showEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the state and end all jobs; ask about an unsaved lecture first.

        While the presenter's window stays open, only hide the window.
        """
        hidden = self.presenting is not None and self.presenting.keeps_lecture()
        if hidden or not self.desk.may_close() or not self.editing.may_close():
            event.ignore()
            return
        self._frames.stop()
        self.playhead.pause()
        self.exercises.close()
        self.stage.cancel()
        self.files.close()
        self.share.close_process()
        self._remember()
        self.stage.jobs.close()
        self.stage.close()
        self.lectures.close()
        self.central.spreads.close()
        self.central.types.close()
        self.editing.remedies.close()
        self.central.measured.close()
        self.central.compiling.close()
        self.central.listings.close()
        self.central.charts.recorded.close()
        event.accept()

    def restore(self) -> None:
        """Restore the last geometry of the window."""
        room = self.screen().availableSize() * 0.95
        self.resize(room.boundedTo(DEFAULT_SIZE))
        if self.settings.geometry:
            self.restoreGeometry(QByteArray(self.settings.geometry))
        self.central.restore_splitters(self.settings.splitters)

    def _remember(self) -> None:
        """Write the state and geometry of the window to its settings file, if it has one."""
        if self.stored_settings.path is None:
            return
        problem = self.stored_settings.write(
            bookmark=self._lasting(),
            geometry=bytes(self.saveGeometry().data()),
            splitters=self.central.splitter_states(),
            sizes=self.toolbar.sizes,
        )
        if problem:
            print(escape_controls(problem), file=sys.stderr)

    def _lasting(self) -> Bookmark:
        """Return the bookmark to store, without panes if they show traces that cannot be opened again."""
        before, mark, shown = self.lectures.player.before, self.bookmark(), self.stage.sessions
        before = before or self.exercises.before
        if before is not None:  # a lecture or an exercise is open, which is not reopened automatically
            mark = msgspec.structs.replace(before, **self.look.bookmark_fields())
            shown = []
        missing = any(
            setup.file and session is None for setup, session in zip(mark.panes, shown, strict=False)
        )
        mark = without_edited_sources(mark)
        if missing or any(self._is_temporary(setup.file) for setup in mark.panes if setup.file):
            return msgspec.structs.replace(mark, panes=(), selections=(), moment=None, focus=0)
        return mark

    def _is_temporary(self, file: str) -> bool:
        """Return True if a trace is deleted when the window closes."""
        return self.files.is_temporary(file) or self.exercises.owns(file)


def _is_gone(widget: QWidget | None) -> bool:
    """Return True if a widget can no longer have the focus."""
    return widget is not None and isValid(widget) and not (widget.isVisible() and widget.isEnabled())


def _are_side_by_side(widget: QWidget | None, other: QWidget) -> bool:
    """Return True if two widgets have the same parent."""
    return widget is not None and widget.parentWidget() is other.parentWidget()

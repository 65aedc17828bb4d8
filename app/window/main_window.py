"""The main window: connects its central widget with the stage, and saves and restores its state as a bookmark."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QMainWindow, QWidget
from shiboken6 import isValid

from ...kernels.scenarios.catalogue import CatalogueError, find
from ..control.delay import Delay
from ..control.playhead import Playhead
from ..control.session_jobs import SessionJobs
from ..control.stage import Stage
from ..control.start_moment import StartMoment
from ..editing.kernel_editing import KernelEditing, WindowParts
from ..exercises.controller import ExerciseController, ExerciseParts
from ..lectures.player.lectures import Lectures
from ..lectures.player.lectures import WindowParts as LecturePlaces
from ..lectures.writing.authoring import WRITING, LectureAuthoring
from ..model.bookmark import Bookmark, Setup, with_look, without_edited_sources, without_panes
from ..model.session import Session
from ..model.settings import Settings, StoredSettings
from ..model.setup_edits import setup_of_measured
from ..model.visible_text import escape_controls
from ..state.actions import ShareChanges, Show, Spotlight, ToggleLayout
from ..state.store import Store
from ..timings.timings_link import TimingsLink
from ..widgets.appearance import Look
from ..widgets.controls import Combo
from ..widgets.picture_drag import PictureDrag
from ..widgets.theme import Theme
from .central_widget import CentralWidget, WindowRequests
from .navigation import Navigation, WindowUpdates
from .open_save import LECTURE_SUFFIX, FileOperations, usable_paths
from .order_search import OrderSearch
from .sharing import OutputParts, Outputs
from .toolbar.toolbar import ToolbarRequests
from .window_menu import MenuParts, WindowCommands, WindowMenu

if TYPE_CHECKING:
    from ...tracer.model.finding import Finding
    from ..lectures.presenter.presenting import Presenting
    from ..timings.model.figure import Datum
    from ..widgets.vector_files import PictureParts

FRAME_INTERVAL = 16  # milliseconds between two frames
DEFAULT_SIZE = QSize(1600, 900)


class MainWindow(QMainWindow):
    """The main window with panes, inspector, timelines and transport.

    settings_file: stores its state between runs, None for no file.
    """

    def __init__(self, jobs: SessionJobs, settings_file: Path | None = None) -> None:
        super().__init__()
        self.stored_settings = StoredSettings(settings_file)
        self._render_soon = Delay(self, 0, self._draw_changes)
        self.store = Store(self._render_soon.start)
        self.look, self.playhead = Look(self.store, self), Playhead(self, self.store)
        self.stage = Stage(self.playhead, jobs, self)
        if jobs.parent() is None:  # else the window that asks for pictures owns them
            jobs.setParent(self)
        self.central = CentralWidget(self.playhead, self.stage, self.look.theme, self._requests())
        self.notice, self.toolbar, self.side = self.central.notice, self.central.toolbar, self.central.side
        self.toolbar.sizes = self.settings.sizes
        self.navigation = Navigation(
            self.stage, self.notice,
            WindowUpdates(
                self.draw, self.central.remember_numbers, self.toolbar.restore, self.central.keep_pictures,
                self.toolbar.end_drag, partial(self.central.show_tab, "source"),
            ),
            self,
        )  # fmt: skip
        self.files = FileOperations(
            self, self.stage, self.toolbar, self.notice, self.stored_settings, self.change_setups,
            self._write_vectors,
        )  # fmt: skip
        self.files.show_output = self.side.show_output
        self.files.note_errors = self.side.note_program_errors
        self.timings = TimingsLink(
            self, self.look, self.central.results.measured, self.central.results.timings, self.open_measured
        )
        central = self.central
        self.lectures = Lectures(
            LecturePlaces(self, central, central.foot, central.caption, self.notice),
            self.stage,
            self.look,
            self.stored_settings,
            self.bookmark,
            self.show_bookmark,
        )
        self.lectures.player.compiled_asked = central.results.compiling.want_too
        central.results.compiling.counted.connect(self.lectures.player.take_compiled)
        self.presenting: Presenting | None = None  # created on first use
        self.editing = KernelEditing(
            self,
            self.stage,
            WindowParts(
                self.side.source, self.notice, central.body, central.show_tab, central.focus_pictures
            ),
            self.look.theme,
            self.files,
            self.change_setups,
        )
        self.files.before_launches = self.editing.set_aside
        self.editing.remedies.proved.connect(self.side.show_findings)
        central.results.findings_added.connect(self.editing.try_remedies)
        self.exercises = ExerciseController(
            ExerciseParts(self, self.stage, self.side.source, self.notice, central.show_tab, central.cover),
            self.look,
            self.lectures,
            self.bookmark,
            self.show_bookmark,
        )
        self.exercises.changed.connect(self.central.focus_pictures)
        self.stage.is_own_file = self._is_temporary
        self.editing.remedies.proved.connect(self.exercises.work.take_proven)
        self.editing.editing.is_suspended = self.exercises.work.is_here
        self.outputs = Outputs(
            OutputParts(
                self, self.stage, self.central, self.look, self.files, self.lectures, self.exercises
            )
        )  # fmt: skip
        self.orders = OrderSearch(self.stage, self.navigation, self.notice, self.side, self)
        self.orders.is_own_file = self._is_temporary
        self.orders.write_order = self.exercises.work.write_order
        self.desk = LectureAuthoring(
            self, self.lectures, self.stage, self.outputs.screen, self.files.launch_of
        )
        self.notice.is_private = self._is_private
        self.notice.left = self.central.focus_pictures
        self.lectures.player.changed.connect(self.notice.refresh)
        self.desk.writing_changed = self.notice.refresh
        self.setWindowTitle("Tilescope")
        self.setAcceptDrops(True)
        self.setCentralWidget(self.central)
        PictureDrag(self.toolbar, self, partial(self.notice.error, cause="file"))
        self._build_menu()
        self._frames = QTimer(self, interval=FRAME_INTERVAL, timerType=Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(lambda: self.playhead.advance(time.monotonic()))
        self.store.subscribe(lambda: self.playhead.playing, self._run_frames)
        self._connect()
        self.central.transport.play.setFocus()
        if self.stored_settings.problem:
            self.notice.error(self.stored_settings.problem)

    def _requests(self) -> WindowRequests:
        return WindowRequests(
            cancel=self.escape,
            select=lambda pane, selection: self.navigation.select(pane, selection),
            show_chart=lambda choice, path: self.timings.show(choice, path),
            open_measured=self.open_measured,
            run=lambda name: self.commands[name].trigger(),
            colour=lambda colour: self.navigation.colouring.choose(colour),
            fix=self._apply_fix,
            choose_order=lambda order: self.orders.choose(order),
            find_order=lambda: self.orders.find(),
            count_values=lambda element: self.orders.count_values(element),
            toolbar=ToolbarRequests(
                change_setups=self.change_setups,
                report=self._show_field_problem,
                compile_ahead=lambda launches: self.stage.jobs.compile_ahead(launches),
                leave=lambda: self.central.focus_pictures(),
                share=lambda shared: self.store.dispatch(ShareChanges(shared)),
                drag=lambda setups: self.navigation.scrub.request(setups),
                end_drag=lambda: self.navigation.scrub.end_drag(),
            ),
        )

    def _apply_fix(self, finding: Finding) -> None:
        """Apply the proven remedy of a finding to the shown text: an exercise's, or that of the kernel in focus."""
        self.central.focus_pictures()  # the button disappears with the finding
        if self.exercises.work.is_here():
            self.exercises.work.apply_fix(finding)
        else:
            self.editing.editing.apply_fix(finding)

    def _write_vectors(self, parts: PictureParts, path: Path) -> None:
        from .vector_picture import write_vector_picture  # loaded on first use

        write_vector_picture(self.central, parts, path)

    def _build_menu(self) -> None:
        self.window_menu = WindowMenu(
            MenuParts(
                self, self.stage, self.central, self.look, self.navigation, self.files, self.editing, self.lectures,
                self.desk, self.exercises, self.orders,
            ),
            WindowCommands(
                self.outputs.copy_command, self.outputs.open_render_dialog, self.leave, self.timings.show_panes,
                self.escape,
                self.toggle_presenter, self._toggle_layout,
            ),
        )  # fmt: skip
        self.menu, self.commands = self.window_menu.menu, self.window_menu.entries

    def _toggle_layout(self) -> None:
        """Enter or leave full screen with a lecture; without one, switch the layout."""
        if not self.lectures.show_full():
            self.store.dispatch(ToggleLayout())

    def toggle_presenter(self) -> None:
        """Open the presenter's window, close it if it is in front, or raise it."""
        if self.presenting is None:
            from ..lectures.player.step_picture import StepPictures  # loaded on first use
            from ..lectures.presenter.presenting import Presenting

            self.presenting = Presenting(
                self, self.lectures.player, self.look, lambda: StepPictures(self.stage.jobs, self._make_picture_window),
                self.window_menu.commands, self.bookmark, self.leave, self.notice,
            )  # fmt: skip
        self.presenting.toggle()

    def _is_private(self, cause: str) -> bool:
        """Return True if messages of a cause are hidden, since an audience sees this window.

        It does while a lecture is in full screen or has a presenter's window. The writer of a lecture still sees
        the messages about edits.
        """
        if self.lectures.player.lecture is None or (self.desk.is_writing() and cause in ("", WRITING)):
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
        window.central.results.measured.sources = self.central.results.measured.sources
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
        stage.loaded.connect(self._note_loaded)
        stage.waiting = self.central.show_progress
        stage.problem.connect(partial(self.notice.error, cause="launch"))
        self.look.changed.connect(self._set_theme)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._turn)
        for field in (transport.speed, transport.link, transport.colour):
            field.left = self.central.focus_pictures
        stage.asked.connect(toolbar.cancel_compiling)
        stage.settled.connect(toolbar.schedule_compiling)
        toolbar.timings.clicked.connect(lambda: self.commands["Timings"].trigger())

    def _show_field_problem(self, sentence: str) -> None:
        """Show an error of the fields, or clear it if there is none."""
        if sentence:
            self.notice.error(sentence, "fields")
        else:
            self.notice.clear(cause="fields")
            self.notice.clear(cause="launch")  # it was caused by the values of the fields

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
        self.store.invalidate()

    def _note_loaded(self, i: int) -> None:
        """Offer to keep more of a new session, which is shown in the next turn."""
        session, panes = self.stage.sessions[i], self.central.panes
        self.central.uncover(i)
        is_new = session is not None and (i >= len(panes) or session is not panes[i].session)
        if is_new and session is not None and self.lectures.player.lecture is None:
            self.navigation.questions.offer_all(i, session.trace)
            self._note_opened(self.stage.setups[i].file)

    def _note_opened(self, file: str) -> None:
        if not self._is_temporary(file):
            self.files.note_opened(file)

    def _run_frames(self, is_playing: bool) -> None:
        """Run the frame timer only while the playhead plays."""
        if is_playing:
            self._frames.start()
            self.playhead.advance(time.monotonic())  # sets the time of the first frame
        else:
            self._frames.stop()

    def _draw_changes(self) -> None:
        """Render what has changed, and draw the moment if its pictures may have changed."""
        self.store.render()
        self.central.draw_changes()

    def draw(self) -> None:
        """Render what has changed, and draw the moment."""
        self._render_soon.stop()
        self.store.render()
        self.central.draw()

    def bookmark(self) -> Bookmark:
        """Return the complete state of the window."""
        return self.store.state.bookmark()

    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool:
        """Restore the state of a bookmark; return False, with the reason shown, if one of its setups cannot be run."""
        return self.navigation.show_bookmark(mark, start)

    def open_measured(self, datum: Datum) -> None:
        """Show the kernel of a measured value, with its parameters, in the current pane."""
        setups = list(self.stage.setups)
        try:
            setup = setup_of_measured(find(datum.subject.partition("/")[0]), datum.parameters)
        except CatalogueError as error:
            self.notice.error(str(error))
            return
        setups[self.stage.focus : self.stage.focus + 1] = [setup]
        self.change_setups(tuple(setups))
        self.raise_()
        self.activateWindow()

    def change_setups(self, setups: tuple[Setup, ...]) -> None:
        """Replace the setups; Back returns to the current ones."""
        self.navigation.change_setups(setups)

    def show_program(self, path: str, mark: Bookmark) -> None:
        """Run a program with the look of a bookmark, without its panes; show a page until the launches are traced."""
        from ..programs.page import ProgramPage  # the window starts without it

        self.store.dispatch(Show(mark))
        page = ProgramPage(
            self.central.theme,
            end=self.files.end_program,
            run=lambda: self.files.run_program(path),
            left=self.central.charts.show_panes,
        )
        self.central.show_page(page)
        self.files.run_first(path, page)

    def show_exercise(self, path: Path, mark: Bookmark) -> None:
        """Open an exercise with the look of a bookmark; show the bookmark if it can't be opened."""
        self.store.dispatch(Show(mark))
        self.exercises.before = mark
        if not self.exercises.open_path(path):
            self.exercises.before = None
            self.show_bookmark(mark)

    def escape(self) -> None:
        """Cancel the tracing, else close the message, else end the spotlight, else leave full screen."""
        if self.navigation.scrub.go_back() or self.lectures.escape_first():
            return
        leaves = self._leave_field()
        if self.editing.editing.cancel():
            self.notice.inform("The edited kernel was stopped; the picture shows the previous version.")
        elif self.files.end_program():
            self.notice.inform("The program was ended.")
        elif self.orders.stop():
            self.notice.inform("The search for another order was stopped.")
        elif self.stage.cancel():
            self.navigation.questions.forget()
            self.notice.inform("The tracing was cancelled; the picture shows the previous launch.")
        elif leaves:
            return
        elif self.notice.is_shown():
            self.toolbar.restore()
            self.notice.close_newest()
        elif self.lectures.escape_last():
            return
        elif self.store.state.spotlight:
            self.store.dispatch(Spotlight(()))
        elif self.store.state.traced is not None:
            self.central.trace_value(None)
            self.central.focus_pictures()
        elif self.central.charts.text:
            self.central.charts.leave()
        elif self.isFullScreen():
            self.showNormal()

    def _leave_field(self) -> bool:
        """Move the focus from a field to the pictures; return False if no field had it."""
        widget = QApplication.focusWidget()
        if self.toolbar.has_focus_in_field():
            self.toolbar.restore()
            self._show_field_problem("")
        elif not isinstance(widget, Combo | QLineEdit) or not self.isAncestorOf(widget):
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
        self.outputs.share.close_process()
        self._remember()
        self.stage.jobs.close()
        self.stage.close()
        self.lectures.close()
        self.editing.remedies.close()
        self.central.results.close()
        self.orders.close()
        self.central.charts.recorded.close()
        event.accept()

    def restore(self) -> None:
        """Restore the last geometry of the window."""
        room = self.screen().availableSize() * 0.95
        self.resize(room.boundedTo(DEFAULT_SIZE))
        if self.settings.geometry:
            self.restoreGeometry(QByteArray(self.settings.geometry))
        self.central.arrangement.restore_splitters(self.settings.splitters)

    def _remember(self) -> None:
        """Write the state and geometry of the window to its settings file, if it has one."""
        if self.stored_settings.path is None:
            return
        problem = self.stored_settings.write(
            bookmark=self._lasting(),
            geometry=bytes(self.saveGeometry().data()),
            splitters=self.central.arrangement.splitter_states(),
            sizes=self.toolbar.sizes,
        )
        if problem:
            print(escape_controls(problem), file=sys.stderr)

    def _lasting(self) -> Bookmark:
        """Return the bookmark to store, without panes if they show traces that cannot be opened again."""
        before, mark, shown = self.lectures.player.before, self.bookmark(), self.stage.sessions
        before = before or self.exercises.before
        if before is not None:  # a lecture or an exercise is open, which is not reopened automatically
            mark = with_look(before, mark)
            shown = []
        missing = any(
            setup.file and session is None for setup, session in zip(mark.panes, shown, strict=False)
        )
        mark = without_edited_sources(mark)
        if missing or any(self._is_temporary(setup.file) for setup in mark.panes if setup.file):
            return without_panes(mark)
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

"""Both windows of a presentation: which screen each fills, and what follows when one of them is closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

from ...model.bookmark import Bookmark
from ...widgets.appearance import Look
from ...widgets.command import Commands
from ...widgets.notice import Notice
from ..lecture.player import LecturePlayer
from ..lecture.step_picture import StepPictures
from .thumbnails import Thumbnails
from .window import PresenterWindow

ELSEWHERE = ("Open lecture…", "List of steps…")  # commands that ask something in the audience's window


class Presenting(QObject):
    """Opens the presenter's window beside that of the audience, and goes from one to the other.

    audience: the main window. make_pictures: makes what draws steps. commands: of the lecture, whose keys work in
    both windows. quit: ends the program. notice: of the main window, whose messages the speaker is shown.
    """

    def __init__(
        self,
        audience: QWidget,
        player: LecturePlayer,
        look: Look,
        make_pictures: Callable[[], StepPictures],
        commands: Callable[[], Commands],
        bookmark: Callable[[], Bookmark],
        quit: Callable[[], object],
        notice: Notice,
    ) -> None:
        super().__init__(audience)
        self.audience, self.player, self.look, self.quit = audience, player, look, quit
        self._make_pictures, self._commands, self._bookmark = make_pictures, commands, bookmark
        self.window: PresenterWindow | None = None  # made when it is first shown
        self._swapped = False  # whether the speaker has the other screen
        self.notice = notice
        notice.changed.connect(self._show_messages)
        self._had_lecture = False  # since the window was opened
        player.changed.connect(self._follow_lecture)
        self._ends = False  # whether the program is being ended
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.screenAdded.connect(lambda _screen: self._place())
            application.screenRemoved.connect(lambda _screen: self._offer())

    @property
    def is_open(self) -> bool:
        """Whether the presenter's window is there."""
        return self.window is not None and self.window.isVisible()

    def toggle(self) -> None:
        """Open the presenter's window, close it where it is in front, or bring it there."""
        if self.window is not None and self.window.isActiveWindow():
            self.show_audience()
            self.window.close()
        elif self.window is not None and self.is_open:
            _to_front(self.window)
        else:
            self.open()

    def open(self) -> None:
        """Show the presenter's window; where there is another screen, the audience's window fills that one."""
        if self.window is None:
            self.window = self._made()
        self._place()
        self.window.show()
        self._offer()
        _to_front(self.window)
        self._had_lecture = self.player.lecture is not None
        self.notice.refresh()

    def show_audience(self) -> None:
        """Show the audience's window again where it was closed, and have it in front."""
        if not self.audience.isVisible():
            self.audience.show()
        self._offer()
        _to_front(self.audience)

    def swap(self) -> None:
        """Let the windows change screens."""
        self._swapped = not self._swapped
        self._place()

    def keeps_lecture(self) -> bool:
        """Take note that the audience's window is being closed; return whether it is hidden alone."""
        if self._ends or not self.is_open or self.player.lecture is None:
            self.end()
            return False
        self.audience.hide()
        self._offer()
        return True

    def end(self) -> None:
        """Close the presenter's window, as the program ends."""
        self._ends = True
        if self.window is not None:
            self.window.close()

    def _follow_lecture(self) -> None:
        """Close the presenter's window with the lecture."""
        has_lecture = self.player.lecture is not None
        if self.is_open and self._had_lecture and not has_lecture and self.window is not None:
            self.show_audience()
            self.window.close()
        self._had_lecture = has_lecture

    def _show_messages(self) -> None:
        """Show the speaker the messages that the audience is not shown."""
        if self.window is not None:
            self.window.show_messages(self.notice.sentences() if self.notice.has_audience() else [])

    def _made(self) -> PresenterWindow:
        thumbnails = Thumbnails(self.player, self._make_pictures, self._bookmark, self.audience.size, self)
        known = self._commands()
        commands = [c for c in (*known["Lectures"], *known["Play"]) if c.text not in ELSEWHERE]
        window = PresenterWindow(self.player, self.player.clock, thumbnails, commands, self.look.theme)
        window.closed.connect(self._take_leave)
        window.audience_asked.connect(self.show_audience)
        window.swap_asked.connect(self.swap)
        self.look.changed.connect(window.set_theme)
        return window

    def _take_leave(self) -> None:
        """End the program where the other window was closed before; else the lecture goes on there."""
        self.notice.refresh()
        if not self._ends and not self.audience.isVisible():
            self.quit()

    def _place(self) -> None:
        """Give each window a screen of its own, where there are several."""
        if self.window is None:
            return
        screens = placed(QGuiApplication.screens(), QGuiApplication.primaryScreen(), swapped=self._swapped)
        if screens is not None:
            speaker, others = screens
            move_to(self.window, speaker, full=False)
            move_to(self.audience, others, full=True)
        self._offer()

    def _offer(self) -> None:
        if self.window is not None:
            self.window.offer_screens(len(QGuiApplication.screens()) > 1, not self.audience.isVisible())


def placed(screens: Sequence[QScreen], primary: QScreen, *, swapped: bool) -> tuple[QScreen, QScreen] | None:
    """Return the screens of speaker and audience: the speaker has the one that the desktop calls its first.

    None where there is but one.
    """
    others = [screen for screen in screens if screen is not primary]
    if not others:
        return None
    return (others[0], primary) if swapped else (primary, others[0])


def move_to(window: QWidget, screen: QScreen, *, full: bool) -> None:
    """Put a window on a screen, and fill it."""
    if window.isFullScreen() or window.isMaximized():
        window.showNormal()
    window.setScreen(screen)
    window.setGeometry(screen.availableGeometry())
    window.showFullScreen() if full else window.showMaximized()


def _to_front(window: QWidget) -> None:
    window.raise_()
    window.activateWindow()

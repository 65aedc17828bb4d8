"""The two windows of a presentation: their screens, and the effects of closing one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

from ...model.bookmark import Bookmark
from ...widgets.appearance import Look
from ...widgets.command import Commands
from ...widgets.notice import Notice
from ..player.player import LecturePlayer
from ..player.step_picture import StepPictures
from .live_picture import LivePicture
from .thumbnails import Thumbnails
from .window import PresenterWindow

ELSEWHERE = ("Open lecture…", "List of steps…")  # commands that open a dialog in the audience's window


class Presenting(QObject):
    """Opens the presenter's window next to the audience's, and switches between them.

    audience: the main window. make_pictures: creates the drawer of steps. commands: those of the lecture; their keys
    work in both windows. quit: ends the program. notice: of the main window; the speaker sees its messages.
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
        self.window: PresenterWindow | None = None  # created on first use
        self._swapped = False  # whether the screens are swapped
        self.notice = notice
        notice.changed.connect(self._show_messages)
        self._had_lecture = False  # since the window was opened
        player.changed.connect(self._follow_lecture)
        self._is_ending = False  # whether the program is being ended
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.screenAdded.connect(lambda _screen: self._place_windows())
            application.screenRemoved.connect(lambda _screen: self._update_screens())

    @property
    def is_open(self) -> bool:
        """True if the presenter's window is visible."""
        return self.window is not None and self.window.isVisible()

    def toggle(self) -> None:
        """Open the presenter's window, close it if it is in front, or raise it."""
        if self.window is not None and self.window.isActiveWindow():
            self.show_audience()
            self.window.close()
        elif self.window is not None and self.is_open:
            _to_front(self.window)
        else:
            self.open()

    def open(self) -> None:
        """Show the presenter's window; with a second screen, the audience's window fills that one."""
        if self.window is None:
            self.window = self._make_window()
        self._place_windows()
        self.window.show()
        self._update_screens()
        _to_front(self.window)
        self._had_lecture = self.player.lecture is not None
        self.notice.refresh()

    def show_audience(self) -> None:
        """Show the audience's window if it was closed, and raise it."""
        if not self.audience.isVisible():
            self.audience.show()
        self._update_screens()
        _to_front(self.audience)

    def swap(self) -> None:
        """Swap the screens of the windows."""
        self._swapped = not self._swapped
        self._place_windows()

    def keeps_lecture(self) -> bool:
        """Handle the closing of the audience's window; return True if it is only hidden."""
        if self._is_ending or not self.is_open or self.player.lecture is None:
            self.end()
            return False
        self.audience.hide()
        self._update_screens()
        return True

    def end(self) -> None:
        """Close the presenter's window, since the program ends."""
        self._is_ending = True
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
        """Show the speaker the messages that are hidden from the audience."""
        if self.window is not None:
            self.window.show_messages(self.notice.private_sentences())

    def _make_window(self) -> PresenterWindow:
        thumbnails = Thumbnails(self.player, self._make_pictures, self._bookmark, self.audience.size, self)
        by_menu = self._commands()
        commands = [c for c in (*by_menu["Lectures"], *by_menu["Play"]) if c.text not in ELSEWHERE]
        live = LivePicture(self.audience, self)
        window = PresenterWindow(self.player, self.player.clock, live, thumbnails, commands, self.look.theme)
        window.closed = self._follow_close
        window.audience_asked = self.show_audience
        window.swap_asked = self.swap
        self.look.changed.connect(window.set_theme)
        return window

    def _follow_close(self) -> None:
        """End the program if the audience's window was closed before."""
        self.notice.refresh()
        if not self._is_ending and not self.audience.isVisible():
            self.quit()

    def _place_windows(self) -> None:
        """Move the windows to different screens, if there are several."""
        if self.window is None:
            return
        screens = placed(QGuiApplication.screens(), QGuiApplication.primaryScreen(), swapped=self._swapped)
        if screens is not None:
            speaker, others = screens
            move_to(self.window, speaker, full=False)
            move_to(self.audience, others, full=True)
        self._update_screens()

    def _update_screens(self) -> None:
        if self.window is not None:
            self.window.offer_screens(len(QGuiApplication.screens()) > 1, not self.audience.isVisible())


def placed(screens: Sequence[QScreen], primary: QScreen, *, swapped: bool) -> tuple[QScreen, QScreen] | None:
    """Choose the screens of speaker and audience; the speaker gets the primary one unless they are swapped.

    None with a single screen.
    """
    others = [screen for screen in screens if screen is not primary]
    if not others:
        return None
    return (others[0], primary) if swapped else (primary, others[0])


def move_to(window: QWidget, screen: QScreen, *, full: bool) -> None:
    """Move a window to a screen, and fill it."""
    if window.isFullScreen() or window.isMaximized():
        window.showNormal()
    window.setScreen(screen)
    window.setGeometry(screen.availableGeometry())
    window.showFullScreen() if full else window.showMaximized()


def _to_front(window: QWidget) -> None:
    window.raise_()
    window.activateWindow()

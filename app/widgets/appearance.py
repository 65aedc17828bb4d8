"""How the window looks: light or dark, how large the text is, how much moves. Its owner, and what applies it to Qt."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from ..model.bookmark import ThemeChoice, WordChoice
from .theme import Theme, qt_palette, resolve, style_sheet


class Look(QObject):
    """The choice of theme, text scale, motion and words; `changed` tells the theme that follows from them."""

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice: ThemeChoice = "system"
        self.words: WordChoice = "own"
        self.theme: Theme = resolve("system")
        self._is_applied = False
        self._window = parent if isinstance(parent, QWidget) else None
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)

    def show(
        self, choice: ThemeChoice, scale: float, reduced_motion: bool, words: WordChoice | None = None
    ) -> None:
        """Take a whole look at once; without words those in use."""
        self.choice, self.words = choice, words or self.words
        theme = resolve(choice, scale, reduced_motion, self.words)
        if theme == self.theme and self._is_applied:
            return
        self.theme, self._is_applied = theme, True
        apply_theme(self.theme, self._window)
        self.changed.emit(self.theme)

    def bookmark_fields(self) -> dict[str, Any]:
        """Return the look as a bookmark has it."""
        theme = self.theme
        return {
            "theme": self.choice,
            "text_scale": theme.scale,
            "reduced_motion": theme.reduced_motion,
            "words": self.words,
        }

    def use(self, choice: ThemeChoice) -> None:
        """Choose light, dark, or what the desktop uses."""
        self.show(choice, self.theme.scale, self.theme.reduced_motion)

    def toggle(self) -> None:
        """Change between light and dark."""
        self.use("light" if self.theme.name == "dark" else "dark")

    def resize_text(self, change: float) -> None:
        """Make the text larger or smaller by a share of its normal size; 0 makes it normal."""
        self.scale_text(round(self.theme.scale + change, 1) if change else 1.0)

    def scale_text(self, scale: float) -> None:
        """Make the text this many times as large as normal."""
        if scale != self.theme.scale:
            self.show(self.choice, scale, self.theme.reduced_motion)

    def toggle_motion(self) -> None:
        """Let elements travel, or stay still."""
        self.show(self.choice, self.theme.scale, not self.theme.reduced_motion)

    def speak(self, words: WordChoice) -> None:
        """Take the words of a model, or those that each scenario speaks itself."""
        self.show(self.choice, self.theme.scale, self.theme.reduced_motion, words)

    def _follow_system(self) -> None:
        if self.choice == "system":
            self.use("system")


def apply_theme(theme: Theme, window: QWidget | None = None) -> None:
    """Give the whole application a theme's palette, font and style sheet.

    window: what takes the style sheet, with its dialogs, menus and other windows, where these are all there is: it
    takes a third of the time.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    # Else a style sheet keeps fonts and palettes of a widget from its children.
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles)
    application.setPalette(qt_palette(theme))
    application.setFont(theme.font())
    dressed, style = window or application, style_sheet(theme)
    if dressed.styleSheet() != style:  # of which motion and words change nothing
        dressed.setStyleSheet(style)

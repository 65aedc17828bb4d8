"""The look of the window: theme, text size, motion and terminology; its owner, and its application to Qt."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from ..model.bookmark import ThemeChoice, WordChoice
from .theme import Theme, qt_palette, resolve, style_sheet


class Look(QObject):
    """The choice of theme, text scale, motion and terminology; `changed` emits the resulting theme."""

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
        """Set the complete look at once; keep the current words if none are given."""
        self.choice, self.words = choice, words or self.words
        theme = resolve(choice, scale, reduced_motion, self.words)
        if theme == self.theme and self._is_applied:
            return
        self.theme, self._is_applied = theme, True
        apply_theme(self.theme, self._window)
        self.changed.emit(self.theme)

    def bookmark_fields(self) -> dict[str, Any]:
        """Return the look as fields of a bookmark."""
        theme = self.theme
        return {
            "theme": self.choice,
            "text_scale": theme.scale,
            "reduced_motion": theme.reduced_motion,
            "words": self.words,
        }

    def use(self, choice: ThemeChoice) -> None:
        """Choose the light or dark theme, or follow the system."""
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
        """Switch between full and reduced motion."""
        self.show(self.choice, self.theme.scale, not self.theme.reduced_motion)

    def set_words(self, words: WordChoice) -> None:
        """Choose the terminology of a model, or that of each scenario."""
        self.show(self.choice, self.theme.scale, self.theme.reduced_motion, words)

    def _follow_system(self) -> None:
        if self.choice == "system":
            self.use("system")


def apply_theme(theme: Theme, window: QWidget | None = None) -> None:
    """Apply a theme's palette, font and style sheet to the application.

    window: gets the style sheet, for itself and its dialogs, menus and child windows. That takes a third of the time
    of a style sheet on the application; None for no window.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    # Without this, a style sheet stops fonts and palettes from propagating to child widgets.
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles)
    application.setPalette(qt_palette(theme))
    application.setFont(theme.font())
    dressed, style = window or application, style_sheet(theme)
    if dressed.styleSheet() != style:  # motion and words do not change it
        dressed.setStyleSheet(style)


def dress(widget: QWidget, theme: Theme, usual: Theme) -> None:
    """Give a widget the font and style sheet of a theme, if its text size differs from the window's usual one."""
    differs = theme.scale != usual.scale
    style = style_sheet(theme) if differs else ""
    if widget.styleSheet() != style:
        widget.setFont(theme.font() if differs else QFont())
        widget.setStyleSheet(style)

"""The look of the window: theme, text size, motion and terminology; its owner, and its application to Qt."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from ..model.bookmark import ThemeChoice, WordChoice
from ..state.actions import Action, ChooseTheme, ChooseWords, ReduceMotion, ScaleText
from ..state.store import Store
from .theme import Theme, qt_palette, resolve, style_sheet

Choices = tuple[ThemeChoice, float, bool, WordChoice]  # theme, text scale, reduced motion, terminology


class Look(QObject):
    """Renders the choice of theme, text scale, motion and terminology; `changed` emits the resulting theme."""

    changed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.theme: Theme = resolve("system")
        self._is_applied = False
        self._window = parent if isinstance(parent, QWidget) else None
        QGuiApplication.styleHints().colorSchemeChanged.connect(lambda: self._render(self._choices()))
        store.subscribe(self._choices, self._render)

    def _choices(self) -> Choices:
        state = self.store.state
        return state.theme, state.text_scale, state.reduced_motion, state.words

    def _render(self, choices: Choices) -> None:
        """Apply a look to the window."""
        theme = resolve(*choices)
        if theme == self.theme and self._is_applied:
            return
        self.theme, self._is_applied = theme, True
        apply_theme(self.theme, self._window)
        self.changed.emit(self.theme)

    def _dispatch(self, *actions: Action) -> None:
        """Change the look and apply it at once, since dialogs and other windows take the theme."""
        for action in actions:
            self.store.dispatch(action)
        self._render(self._choices())

    @property
    def choice(self) -> ThemeChoice:
        """The chosen theme."""
        return self.store.state.theme

    @property
    def words(self) -> WordChoice:
        """The chosen terminology."""
        return self.store.state.words

    def show(
        self, choice: ThemeChoice, scale: float, reduced_motion: bool, words: WordChoice | None = None
    ) -> None:
        """Set the complete look at once; keep the current words if none are given."""
        look = ChooseTheme(choice), ScaleText(scale), ReduceMotion(reduced_motion)
        self._dispatch(*look, ChooseWords(words or self.words))

    def use(self, choice: ThemeChoice) -> None:
        """Choose the light or dark theme, or follow the system."""
        self._dispatch(ChooseTheme(choice))

    def toggle(self) -> None:
        """Change between light and dark."""
        self.use("light" if self.theme.name == "dark" else "dark")

    def resize_text(self, change: float) -> None:
        """Make the text larger or smaller by a share of its normal size; 0 makes it normal."""
        self.scale_text(round(self.theme.scale + change, 1) if change else 1.0)

    def scale_text(self, scale: float) -> None:
        """Make the text this many times as large as normal."""
        self._dispatch(ScaleText(scale))

    def toggle_motion(self) -> None:
        """Switch between full and reduced motion."""
        self._dispatch(ReduceMotion(not self.theme.reduced_motion))

    def set_words(self, words: WordChoice) -> None:
        """Choose the terminology of a model, or that of each scenario."""
        self._dispatch(ChooseWords(words))


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

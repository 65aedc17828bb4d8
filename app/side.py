"""The column at the right: source, thread and explanation of the pane in focus, one tab each."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from .session import Selection, Session
from .theme import Theme
from .views.explain import ExplainView
from .views.source import SourceView
from .views.thread import ThreadView
from .views.view import View

TABS = ("source", "thread", "explain")


class Side(QFrame):
    """Three views of one session, of which the one on top is loaded and drawn; `tab_changed` names it."""

    tab_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName("Source, thread and explanation")
        self.session: Session | None = None
        self.moment, self.selection = 0.0, Selection()
        self.views: tuple[View, ...] = (SourceView(theme), ThreadView(theme), ExplainView(theme))
        self.bar, self.stack = QTabBar(), QStackedWidget()
        self.bar.setAccessibleName("What the right column shows")
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for name, view in zip(TABS, self.views, strict=True):
            self.bar.addTab(name.capitalize())
            self.stack.addWidget(view)
        self.bar.currentChanged.connect(self._turn)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 4, 1, 1)
        column.setSpacing(2)
        column.addWidget(self.bar)
        column.addWidget(self.stack, 1)

    @property
    def tab(self) -> str:
        """The name of the tab on top."""
        return TABS[self.bar.currentIndex()]

    def show_tab(self, name: str) -> None:
        """Bring a tab to the top."""
        if name in TABS:
            self.bar.setCurrentIndex(TABS.index(name))

    def show_moment(self, session: Session, moment: float, selection: Selection) -> None:
        """Draw a moment of a session in the tab on top."""
        self.session, self.moment, self.selection = session, moment, selection
        self._draw()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.setMinimumSize(theme.px(200), theme.px(120))  # the views scroll
        for view in self.views:
            view.set_theme(theme)

    def _turn(self, index: int) -> None:
        self.stack.setCurrentIndex(index)
        self._draw()
        self.tab_changed.emit(TABS[index])

    def _draw(self) -> None:
        view = self.views[self.bar.currentIndex()]
        if view.session is not self.session:
            view.load(self.session)
        view.render_moment(self.moment, self.selection)

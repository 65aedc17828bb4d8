"""The source of the pane in focus and, where the other pane's kernel is in another language, that one's source too."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from ..model.kernel_source import is_in_cuda_cpp
from ..model.session import Selection, Session
from ..model.spotlight import Highlight
from ..views.source.view import SourceView
from ..widgets.plain_text import PlainLabel
from ..widgets.theme import Theme

LANGUAGES = {True: "CUDA C++", False: "Numba"}
SIDES = ("Left", "Right")


class SourcePair(QWidget):
    """Shows two sources below each other, that of the left pane above; each marks the line of that pane's warp."""

    def __init__(self, source: SourceView, theme: Theme, parent: QWidget | None = None) -> None:
        """source: of the pane in focus."""
        super().__init__(parent)
        self.theme, self.source = theme, source
        self.counterpart: SourceView | None = None  # created on first use
        self._highlight: Highlight | None = None
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.setChildrenCollapsible(False)
        self._parts = [_Part(source)]
        self._splitter.addWidget(self._parts[0])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._splitter)
        self.setFocusProxy(source)

    def show_counterpart(
        self, session: Session | None, moment: float = 0.0, selection: Selection | None = None, pane: int = 1
    ) -> None:
        """Show the source of the other pane, whose number is `pane`, at its moment; None hides it."""
        for part in self._parts:
            part.label.setVisible(session is not None)
        if session is None:
            if self.counterpart is not None:
                self._parts[1].hide()
            return
        if self.counterpart is None:
            self.counterpart = SourceView(self.theme)
            self.counterpart.setAccessibleName("Source of the other pane")
            self.counterpart.file_of = lambda shown: self.source.file_of(shown)
            self.counterpart.set_spotlight(self._highlight)
            self._parts.append(_Part(self.counterpart))
            self._parts[1].set_theme(self.theme)
        if self._splitter.indexOf(self._parts[1]) != pane:
            self._splitter.insertWidget(pane, self._parts[1])
            self._splitter.setSizes([1 << 16, 1 << 16])
        language = is_in_cuda_cpp(session)
        self._parts[0].label.setText(f"{SIDES[1 - pane]} · {LANGUAGES[not language]}")
        self._parts[1].label.setText(f"{SIDES[pane]} · {LANGUAGES[language]}")
        self._parts[1].show()
        if self.counterpart.session is not session:
            self.counterpart.load(session)
        self.counterpart.render_moment(moment, selection or Selection())

    def set_spotlight(self, highlight: Highlight | None) -> None:
        """Highlight the other pane's lines."""
        self._highlight = highlight
        if self.counterpart is not None:
            self.counterpart.set_spotlight(highlight)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size to the counterpart and the labels."""
        self.theme = theme
        for part in self._parts:
            part.set_theme(theme)
        if self.counterpart is not None:
            self.counterpart.set_theme(theme)


class _Part(QWidget):
    """A source with a label above it, which is hidden while there is only one source."""

    def __init__(self, view: SourceView) -> None:
        super().__init__()
        self.label = PlainLabel()
        self.label.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.label)
        column.addWidget(view, 1)

    def set_theme(self, theme: Theme) -> None:
        self.label.setFont(theme.font(12))
        self.label.setStyleSheet(
            f"color: {theme.palette.muted}; padding: {theme.px(3)}px {theme.px(8)}px {theme.px(2)}px;"
        )

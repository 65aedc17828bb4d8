"""A dialog with the page about a kind of finding, read from the package; its links lead to other pages."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ...explain.pages import page_path
from ...widgets.theme import Theme, sheet

SIZE = QSize(680, 720)  # at the normal text size


class PageDialog(QDialog):
    """Shows one page at a time."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Page about a finding")
        self.text.setOpenExternalLinks(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self.text)
        column.addWidget(buttons)
        self.resize(theme.px(SIZE.width()), min(theme.px(SIZE.height()), parent.window().height()))

    def show_page(self, name: str, theme: Theme) -> None:
        """Show the page of a finding or a counter; raises UnknownPageError."""
        self.text.setFont(theme.font(13))
        self.text.setStyleSheet(sheet("QTextBrowser", theme))
        self.text.document().setDefaultFont(theme.font(13))
        self.text.setSource(QUrl.fromLocalFile(str(page_path(name))))
        self.setWindowTitle(f"Finding: {name}")
        self.show()
        self.raise_()
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

"""A dialog with the page about a kind of finding, which ships with Tilescope."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ...explain.pages import FOLDER, page_path
from ...widgets.theme import Theme, flat_sheet

SIZE = QSize(680, 720)  # at the normal text size


class PageBrowser(QTextBrowser):
    """Shows the pages of the package, and opens no other files."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenExternalLinks(True)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load a page; return None for a link that leads out of the folder."""
        path = Path(self.source().resolved(QUrl(name)).toLocalFile()).resolve()
        return super().loadResource(kind, name) if path.is_relative_to(FOLDER.resolve()) else None


class PageDialog(QDialog):
    """Shows one page at a time."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = PageBrowser()
        self.text.setAccessibleName("Page about a finding")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self.text)
        column.addWidget(buttons)
        self.resize(theme.px(SIZE.width()), min(theme.px(SIZE.height()), parent.window().height()))

    def show_page(self, name: str, theme: Theme) -> None:
        """Show the page of a finding or a counter; raises UnknownPageError."""
        self.text.setFont(theme.font(13))
        self.text.setStyleSheet(flat_sheet("QTextBrowser", theme))
        self.text.document().setDefaultFont(theme.font(13))
        self.text.setSource(QUrl.fromLocalFile(str(page_path(name))))
        self.setWindowTitle(f"Finding: {name}")
        self.show()
        self.raise_()
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

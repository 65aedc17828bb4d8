"""A non-modal dialog with a text to read."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QScrollArea, QVBoxLayout, QWidget

from .theme import Theme


def show_text_dialog(parent: QWidget, theme: Theme, title: str, text: QLabel, size: QSize) -> QDialog:
    """Show a text in a dialog over a window, replacing an open one with the same title; return the dialog.

    size: in pixels at the normal text size, at most as high as the window.
    """
    for shown in parent.findChildren(QDialog, title, Qt.FindChildOption.FindDirectChildrenOnly):
        shown.close()
    dialog = QDialog(parent)
    dialog.setObjectName(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    text.setWordWrap(True)
    text.setMargin(theme.px(12))
    area = QScrollArea()
    area.setWidget(text)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.close)
    column = QVBoxLayout(dialog)
    column.addWidget(area)
    column.addWidget(buttons)
    dialog.resize(theme.px(size.width()), min(theme.px(size.height()), parent.height()))
    dialog.show()
    return dialog

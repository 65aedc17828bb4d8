"""Labels of the file dialog that Qt draws where the desktop has none, in usual words."""

from __future__ import annotations

from PySide6.QtCore import QTranslator

LABELS = {"&Look in:": "Fo&lder:", "Files of &type:": "&Type:"}


class DialogWords(QTranslator):
    """Replaces labels of Qt's file dialog."""

    def isEmpty(self) -> bool:
        """Return False, since Qt does not ask an empty translator."""
        return False

    def translate(
        self, context: str, source: str, disambiguation: str | None = None, n: int = -1
    ) -> str | None:
        """Return the replacement of a label, None for other texts."""
        return LABELS.get(source) if context == "QFileDialog" else None

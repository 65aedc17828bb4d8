"""The dialogs with text only: keyboard shortcuts and About."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ... import __version__
from ..widgets.plain_text import RichLabel, markup
from ..widgets.reading_dialog import show_text_dialog
from ..widgets.theme import Theme

ABOUT = """<h2>Tilescope {version}</h2>
<p>Shows what a CUDA kernel does to memory. The same Numba kernel is traced on any laptop under Numba's CUDA
simulator; every number is counted from that trace.</p>
<p><b>measured</b>: a clock or a counter of a device. <b>exact</b>: counted from the trace. <b>modelled</b>: computed
by a named formula.</p>
<p>A sector is 32 bytes of global memory; a request is one warp making one access together; a moment is a tick in
which every running warp makes one request.</p>
<p>MIT licence. Colours after Okabe and Ito, Color Universal Design, 2008.</p>"""

KEYS_SIZE = QSize(980, 720)  # pixels at the normal text size
PARAMETER_KEYS = "A parameter in the toolbar"
FIELD_KEYS = (
    (PARAMETER_KEYS, "Change continuously", "drag its name"),
    (PARAMETER_KEYS, "Next value, previous value", "Up, Down, or the wheel"),
    (PARAMETER_KEYS, "Four values forward, four back, outside lectures", "PgUp, PgDown"),
    (PARAMETER_KEYS, "A number in steps of 1", "Shift with any of these"),
)


Key = tuple[str, str, str]  # menu, command, keys


def show_keys(parent: QWidget, theme: Theme, keys: Iterable[Key]) -> KeysPage:
    """Show the shortcuts and the keys of fields in a non-modal window, replacing an open one."""
    for shown in parent.findChildren(KeysPage, options=Qt.FindChildOption.FindDirectChildrenOnly):
        shown.close()
    page = KeysPage(parent, theme, [*keys, *FIELD_KEYS])
    page.show()
    return page


class KeysPage(QDialog):
    """The keys by menu in two columns, filtered by typing. columns: the texts."""

    def __init__(self, parent: QWidget, theme: Theme, keys: Sequence[Key]) -> None:
        super().__init__(parent)
        self.theme, self.keys = theme, keys
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keyboard shortcuts")
        self.words = QLineEdit()
        self.words.setPlaceholderText("Find a command or a key")
        self.words.setAccessibleName("Find a command or a key")
        self.words.setFont(theme.font(15))
        self.words.textChanged.connect(self._filter)
        self.columns = (RichLabel(""), RichLabel(""))
        inside, area, column = QWidget(), QScrollArea(), QVBoxLayout(self)
        across = QHBoxLayout(inside)
        across.setSpacing(theme.px(24))
        for label in self.columns:
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
            across.addWidget(label, 1)
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column.addWidget(self.words)
        column.addWidget(area, 1)
        column.addWidget(buttons)
        self._filter("")
        width, height = theme.px(KEYS_SIZE.width()), theme.px(KEYS_SIZE.height())
        self.resize(min(width, parent.width()), min(height, parent.height()))
        self.words.setFocus()

    def _filter(self, text: str) -> None:
        """Show the keys whose menu, command or keys contain every word, in two columns of similar height."""
        words = text.lower().split()
        rows = [row for row in self.keys if all(word in self._searched(row) for word in words)]
        menus = {menu: [row for row in rows if row[0] == menu] for menu, _, _ in rows}
        left: list[str] = []
        right: list[str] = []
        used, total = 0, len(rows) + len(menus)
        for menu, entries in menus.items():
            (left if 2 * used + len(entries) + 1 <= total else right).append(self._section(menu, entries))
            used += len(entries) + 1
        for label, parts in zip(self.columns, (left, right), strict=True):
            label.setText(f"<table cellpadding=3 width='100%'>{''.join(parts)}</table>" if parts else "")
        if not rows:
            self.columns[0].setText("No key matches")

    def _searched(self, row: Key) -> str:
        menu, text, keys = row
        return f"{menu} {self.theme.translate(text)} {keys}".lower()

    def _section(self, menu: str, rows: Sequence[Key]) -> str:
        """Format the keys of a menu as rows of a table."""
        lines = [
            f"<tr><td>{markup(self.theme.translate(text))}</td><td align=right>{markup(keys)}</td></tr>"
            for _, text, keys in rows
        ]
        return f"<tr><td colspan=2><b>{markup(menu)}</b></td></tr>{''.join(lines)}"


def show_about(parent: QWidget, theme: Theme) -> None:
    """Show version, terms and licence."""
    _show(parent, theme, "About Tilescope", ABOUT.format(version=__version__))


def _show(parent: QWidget, theme: Theme, title: str, html: str) -> None:
    show_text_dialog(parent, theme, title, RichLabel(html), QSize(560, 680))

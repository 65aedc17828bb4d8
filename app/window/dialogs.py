"""The dialogs with text only: keyboard shortcuts and About."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

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

PARAMETER_KEYS = "A parameter in the toolbar"
FIELD_KEYS = (
    (PARAMETER_KEYS, "Change continuously", "drag its name"),
    (PARAMETER_KEYS, "Next value, previous value", "Up, Down, or the wheel"),
    (PARAMETER_KEYS, "Four values forward, four back, outside lectures", "PgUp, PgDown"),
    (PARAMETER_KEYS, "A number in steps of 1", "Shift with any of these"),
)


def show_keys(parent: QWidget, theme: Theme, keys: Iterable[tuple[str, str, str]]) -> None:
    """Show the shortcuts, (menu, command, keys) each, and the keys of fields, in a non-modal window."""
    rows, last = [], ""
    for title, text, shortcut in (*keys, *FIELD_KEYS):
        heading = f"<tr><td colspan=2><b>{markup(title)}</b></td></tr>" if title != last else ""
        rows.append(
            f"{heading}<tr><td>{markup(theme.translate(text))}&nbsp;&nbsp;&nbsp;</td><td>{markup(shortcut)}</td></tr>"
        )
        last = title
    _show(parent, theme, "Keyboard shortcuts", f"<table cellpadding=3>{''.join(rows)}</table>")


def show_about(parent: QWidget, theme: Theme) -> None:
    """Show version, terms and licence."""
    _show(parent, theme, "About Tilescope", ABOUT.format(version=__version__))


def _show(parent: QWidget, theme: Theme, title: str, html: str) -> None:
    show_text_dialog(parent, theme, title, RichLabel(html), QSize(560, 680))

"""Opens the dialog with the state of the window and the initial values of its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from ..control.stage import Stage
from ..model.bookmark import Bookmark, Room
from ..widgets.notice import Notice
from ..widgets.theme import Theme
from .dialog import RenderDialog
from .fields import FieldDefaults
from .model.messages import Show

Caption = tuple[str, str, str]  # title, HTML, foot
NOTHING = "There is nothing to render: no trace is shown. Open a scenario first."


def open_render_dialog(
    window: QWidget,
    theme: Theme,
    stage: Stage,
    screen: Callable[[], Bookmark],
    notice: Notice,
    folder: Callable[[], str],
    room: Room,
    caption: Caption,
) -> RenderDialog | None:
    """Open the dialog, replacing an idle one; show a message and return None without a trace."""
    for shown in window.findChildren(RenderDialog, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if shown.is_recording:
            shown.raise_()
            return shown
        shown.close()
    session = stage.sessions[-1] if stage.sessions else None
    if session is None:
        notice.inform(NOTHING)
        return None
    room = replace(room, ranges=())  # a film shows every block completely
    mark, trusted = screen(), tuple(sorted(stage.trusted))
    starts = session.requests.span_start
    name: Literal["light", "dark"] = "dark" if theme.name == "dark" else "light"
    offer = FieldDefaults(
        stage.playhead.moment, starts.shape[1] if starts.size else 0, stage.playhead.speed,
        (window.width(), window.height()), name, theme.scale, bool(caption[1]),
    )  # fmt: skip
    dialog = RenderDialog(
        window, theme, offer, lambda scale: Show(mark, trusted, scale, room, caption), folder()
    )
    dialog.reported = lambda sentence, well: notice.inform(sentence) if well else notice.error(sentence)
    dialog.show()
    return dialog

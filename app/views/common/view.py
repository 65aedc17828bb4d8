"""The base class of views: loaded with a session, then drawn for any moment and selection, in any order."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QWidget

from ....kernels.scenarios.catalogue import Scenario
from ...model.phase_steps import clamp_selection
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.theme import Theme
from .dimming import FAINT, HALF, Veil
from .requests import ViewRequests


class View(QWidget):
    """A picture of a session at a moment; it depends only on session, moment, selection, spotlight and theme.

    A view never changes the time or the selection itself: it calls a request in `ask`, which its owner sets, and the
    main window updates all views.
    """

    dims_itself = False  # whether it dims its own shapes; otherwise it gets a veil

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ask = ViewRequests()
        self._reworded_theme: tuple[Scenario | None, Theme] | None = None
        self.session: Session | None = None
        self.theme = theme
        self.moment = 0.0
        self.selection = Selection()
        self.highlight: Highlight | None = None
        self._veil: Veil | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Guard the event handlers: see `guarded`."""
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if name.endswith("Event") and callable(method):
                setattr(cls, name, guard_handler(method))

    def load(self, session: Session | None) -> None:
        """Take a session (None empties the view) and build the parts that do not depend on the moment.

        Until the next moment is drawn, the view keeps its moment and selection as far as this launch has them.
        """
        self.session = session
        if session is not None:
            self.moment = min(self.moment, session.end)
            self.selection = clamp_selection(session, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw this moment; its fraction is the progress of the moment's accesses along their paths."""
        self.moment, self.selection = moment, selection
        if self.highlight is not None:
            self._update_veil()

    def prepare(self, block: int) -> None:
        """Prepare the picture of a block that is not selected yet."""

    def set_spotlight(self, highlight: Highlight | None) -> None:
        """Highlight these things and dim the rest; None dims nothing."""
        if highlight != self.highlight:
            self.highlight = highlight
            self._update_veil()
            self.apply_spotlight()
            self.update()

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Check whether the picture contains highlighted things."""
        return False

    def apply_spotlight(self) -> None:
        """Apply another spotlight, in views that must do more than redraw."""

    @property
    def keep(self) -> float:
        """The opacity of shapes that are not highlighted: 1 without a spotlight."""
        if self.highlight is None:
            return 1.0
        return FAINT if self.highlight.dims_all or self.shows_highlight(self.highlight) else HALF

    def _update_veil(self) -> None:
        """Show the veil if the picture contains no highlighted things, else hide it."""
        is_covered = (
            self.highlight is not None and not self.dims_itself and not self.shows_highlight(self.highlight)
        )
        if is_covered and self._veil is None:
            self._veil = Veil(self, lambda: self.theme)
        if self._veil is not None:
            self._veil.setVisible(is_covered)
            self._veil.raise_()

    def reword(self, text: str) -> str:
        """Reword a text in the vocabulary of the user or the scenario."""
        return self.theme.translate(text)

    @property
    def theme(self) -> Theme:
        """Colours, text size and the session's vocabulary."""
        scenario = self.session.scenario if self.session else None
        if self._reworded_theme is None or self._reworded_theme[0] is not scenario:
            self._reworded_theme = scenario, self._theme.with_words_of(scenario)
        return self._reworded_theme[1]

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._theme, self._reworded_theme = theme, None

    def set_theme(self, theme: Theme) -> None:
        """Apply other colours or another text size and redraw."""
        self.theme = theme


def guard_handler(handler: Callable[..., None]) -> Callable[..., None]:
    """Wrap an event handler so that it reports its exceptions as uncaught and continues.

    An exception that leaves a handler called by Qt can end the process, above all while painting. A wrong picture
    must not end a lecture.
    """

    @functools.wraps(handler)
    def guarded_handler(self: QWidget, event: Any) -> None:
        try:
            handler(self, event)
        except Exception as error:  # noqa: BLE001  # every exception is reported, none is hidden
            sys.excepthook(type(error), error, error.__traceback__)

    return guarded_handler

"""What every view is: loaded once with a session, then drawn for a moment and a selection, in any order."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ....kernels.scenarios.catalogue import Scenario
from ...model.phase_steps import within
from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.theme import Theme
from .dimming import FAINT, HALF, Veil


class View(QWidget):
    """A picture of a session at a moment; it depends on session, moment, selection, spotlight and theme alone.

    A view never changes time or selection itself: it asks, and the main window answers all views alike.
    """

    dims_itself = False  # whether it draws what does not stand out in dimmed colours; else it gets a veil

    moment_asked = Signal(float)
    selection_asked = Signal(Selection)
    line_asked = Signal(str, int)  # of the source: the file and the line in it
    listing_asked = Signal(object)  # what a session's kernel is compiled to

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told_in: tuple[Scenario | None, Theme] | None = None
        self.session: Session | None = None
        self.theme = theme
        self.moment = 0.0
        self.selection = Selection()
        self.lit: Lit | None = None
        self._veil: Veil | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Guard the handlers of events: see `guarded`."""
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if name.endswith("Event") and callable(method):
                setattr(cls, name, guarded(method))

    def load(self, session: Session | None) -> None:
        """Take a session (None empties the view) and build what does not change with the moment.

        Until the next moment is drawn, the one before and its selection hold, as far as this launch has them.
        """
        self.session = session
        if session is not None:
            self.moment = min(self.moment, session.end)
            self.selection = within(session, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw this moment; its fraction says how far the accesses of the moment have travelled."""
        self.moment, self.selection = moment, selection
        if self.lit is not None:
            self._cover()

    def prepare(self, block: int) -> None:
        """Make ahead what another block's picture takes beyond that of the selected one."""

    def set_spotlight(self, lit: Lit | None) -> None:
        """Let this stand out while the rest dims; None dims nothing."""
        if lit != self.lit:
            self.lit = lit
            self._cover()
            self.dim()
            self.update()

    def is_part_of(self, lit: Lit) -> bool:
        """Return whether the picture has some of what stands out."""
        return False

    def dim(self) -> None:
        """Take over another spotlight, where more is to be done than to draw anew."""

    @property
    def keep(self) -> float:
        """How much is left of the shapes that do not stand out: all without a spotlight."""
        if self.lit is None:
            return 1.0
        return FAINT if self.lit.dark or self.is_part_of(self.lit) else HALF

    def _cover(self) -> None:
        """Lay the veil over the picture where it has nothing that stands out, or take it away."""
        covered = self.lit is not None and not self.dims_itself and not self.is_part_of(self.lit)
        if covered and self._veil is None:
            self._veil = Veil(self, lambda: self.theme)
        if self._veil is not None:
            self._veil.setVisible(covered)
            self._veil.raise_()

    def say(self, text: str) -> str:
        """Return a text in the words that the user chose, or that the scenario speaks."""
        return self.theme.say(text)

    @property
    def theme(self) -> Theme:
        """Colours, text size, and the words that the session is told in."""
        scenario = self.session.scenario if self.session else None
        if self._told_in is None or self._told_in[0] is not scenario:
            self._told_in = scenario, self._theme.speaking(scenario)
        return self._told_in[1]

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._theme, self._told_in = theme, None

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size and draw again."""
        self.theme = theme


def guarded(handler: Callable[..., None]) -> Callable[..., None]:
    """Return an event handler that reports what it raises as an uncaught exception, and goes on.

    An exception that leaves a handler which Qt called, above all a painting one, can end the process: one
    wrong picture must not take the lecture down.
    """

    @functools.wraps(handler)
    def safe(self: QWidget, event: Any) -> None:
        try:
            handler(self, event)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is reported and not hidden
            sys.excepthook(type(error), error, error.__traceback__)

    return safe

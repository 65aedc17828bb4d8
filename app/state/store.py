"""The store of a window's state: actions replace it, and panels render what changed once per turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .actions import Action, reduce
from .window_state import FIRST_STATE, WindowState

Model = TypeVar("Model")
MOST_ROUNDS = 4  # of rendering: a panel may refuse what it renders and dispatch an action
NOTHING: object = object()


class _Panel:
    """A view model, its last rendered value, and the function that renders it."""

    def __init__(self, model: Callable[[], Any], render: Callable[[Any], object]) -> None:
        self.model, self.render, self.rendered = model, render, NOTHING


class Store:
    """The state of a window. schedule: asks for a call of `render` in the next turn of the event loop."""

    def __init__(self, schedule: Callable[[], object] = lambda: None) -> None:
        self.state: WindowState = FIRST_STATE
        self.schedule = schedule
        self._panels: list[_Panel] = []
        self._is_due = self._is_rendering = False
        self.is_invalid = False  # whether the moment must be drawn even if the state is the same

    def dispatch(self, action: Action) -> None:
        """Replace the state by the one after an action; panels render it in the next turn."""
        state = reduce(self.state, action)
        if state is not self.state:
            self.state = state
            self._plan()

    def invalidate(self) -> None:
        """Render and draw in the next turn, since something besides the state has changed."""
        self.is_invalid = True
        self._plan()

    def _plan(self) -> None:
        if not self._is_due and not self._is_rendering:
            self.schedule()
        self._is_due = True

    def subscribe(self, model: Callable[[], Model], render: Callable[[Model], object]) -> None:
        """Render a view model whenever it differs from the one rendered last; panels render in this order."""
        self._panels.append(_Panel(model, render))

    def render(self) -> None:
        """Render every panel whose view model has changed, and again what panels change by that."""
        if self._is_rendering:
            return
        self._is_rendering = True
        try:
            for _ in range(MOST_ROUNDS):
                self._is_due = False
                for panel in self._panels:
                    self._render_panel(panel)
                if not self._is_due:
                    return
        finally:
            self._is_rendering = False
        self.schedule()

    def _render_panel(self, panel: _Panel) -> None:
        model = panel.model()
        if model != panel.rendered:
            panel.rendered = model
            panel.render(model)

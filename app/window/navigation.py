"""The way from one launch to another: other setups, bookmarks, and the history."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer

from ..control.stage import Stage
from ..control.start_moment import StartMoment, as_before, at_first_load
from ..gpu_timelines.model.place import GPU, is_gpu
from ..model.bookmark import Bookmark, History, Setup, with_look
from ..model.session import Selection
from ..state.actions import Show, ShowChart, TraceValue
from ..state.view_models import PANE_NAMES
from ..views.common.wording import coordinates_text
from ..widgets.notice import Notice
from .colouring import Colouring
from .launch_questions import LaunchQuestions
from .parameter_scrub import ParameterScrub, ScrubRequests


class WindowUpdates(NamedTuple):
    """What the window does when other launches are shown."""

    draw: Callable[[], object]  # what has changed, at once
    remember_numbers: Callable[[], object]  # the shown counters, before a change
    restore_fields: Callable[[], object]  # of the toolbar
    keep_pictures: Callable[[bool], object]  # visible during a drag
    end_drag: Callable[[], object]  # in the fields
    show_source: Callable[[], object]  # of a kernel in question


class Navigation(QObject):
    """Shows other setups and bookmarks, with entries for Back. Every way ends a drag in progress."""

    def __init__(self, stage: Stage, notice: Notice, window: WindowUpdates, parent: QObject) -> None:
        super().__init__(parent)
        self.stage, self.store, self.notice, self.window = stage, stage.store, notice, window
        self.history = History()
        self._selected: Bookmark | None = None  # the state after the last selection
        self.questions = LaunchQuestions(stage, notice, self.change_setups, window.show_source)
        self.colouring = Colouring(stage, notice)
        # It continues as soon as the stage is settled; the slots connected before must run first.
        drag = ScrubRequests(self._run, self.bookmark, self._begin_drag, self._end_drag)
        self.scrub = ParameterScrub(stage, self.history, drag, self)

    def bookmark(self) -> Bookmark:
        """Return the saved part of the window's state."""
        return self.store.state.bookmark()

    def change_setups(self, setups: tuple[Setup, ...]) -> None:
        """Replace the setups; Back returns to the current ones."""
        self.scrub.stop()
        here = self.bookmark()
        if setups != here.panes and self._run(setups, here.selections, as_before(self.stage)) and here.panes:
            self.history.leave(here)
            if here.traced is not None and _programs(setups) != _programs(here.panes):
                self.store.dispatch(TraceValue(None))  # the value is one of another program

    def _run(self, setups: tuple[Setup, ...], selections: tuple[Selection, ...], start: StartMoment) -> bool:
        """Replace the setups; return False, with nothing changed, if they are refused."""
        self.questions.forget()  # before the new setups may ask something
        self.colouring.leave()
        self.window.remember_numbers()
        if not self.stage.show(setups, selections, start):
            return False
        self.store.dispatch(ShowChart(GPU if is_gpu(self.store.state.chart) else ""))
        if self.stage.setups != setups:  # the user has to agree first
            self.window.restore_fields()
        return True

    def _begin_drag(self) -> None:
        self.questions.hold()
        self.window.keep_pictures(True)

    def _end_drag(self) -> None:
        self.window.keep_pictures(False)
        self.window.end_drag()
        self.questions.release()

    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool:
        """Restore the state of a bookmark; return False, with the reason shown, if one of its setups cannot be run."""
        self.scrub.stop()
        moment, setups = mark.moment, mark.panes[: len(PANE_NAMES)]
        if not setups:
            return False
        first = start or (at_first_load if moment is None else lambda _: moment)
        self.store.dispatch(Show(mark))
        self.colouring.keep()
        shown = self.stage.show(setups, mark.selections, first)
        self.stage.set_focus(min(mark.focus, len(self.stage.setups) - 1))
        self.window.draw()
        return shown

    def travel(self, direction: int) -> None:
        """Go back (-1) or forward (1) in the history."""
        self.scrub.stop()
        here = self.bookmark()
        mark = self.history.back(here) if direction < 0 else self.history.forward(here)
        if mark is not None:
            self.questions.forget()
            self.show_bookmark(with_look(mark, here, "layout"))

    def select(self, pane: int, selection: Selection) -> None:
        """Select a block and thread; Back returns. If the time moves for that, report it.

        Several selections without another change are one entry of the history.
        """
        here, before = self.bookmark(), self.stage.moments()
        self.stage.select(pane, selection)
        if self.bookmark() == here or self.stage.playhead.playing:
            return
        after = self.stage.moments()
        if after != before or self._selected != here:
            self.history.leave(here)
        self._selected = self.bookmark()
        if after != before:
            # Later, since a finding also sets the moment after the selection.
            QTimer.singleShot(0, self, partial(self._report_position, pane))

    def _report_position(self, pane: int) -> None:
        """Report the block and the moment of a pane."""
        session = self.stage.sessions[pane] if pane < len(self.stage.sessions) else None
        if session is not None:
            block = coordinates_text(self.stage.selections[pane].block, session.trace.grid)
            moment = int(self.stage.moments()[pane])
            self.notice.inform(f"Block {block}, moment {moment:,} · Alt+Left to go back")


def _programs(setups: tuple[Setup, ...]) -> list[tuple[str, str]]:
    return [(setup.scenario, setup.file) for setup in setups]

"""The menu Order: search an order that changes the result, and show it next to the launch's own order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from ...tracer.model.launch import Schedule
from ...tracer.model.order import Order
from ...tracer.orders.explore import estimate_text
from ...tracer.orders.search import LOCKSTEP_ORDER, ChangingOrder, SearchResult
from ..control.order_job import OrderJob
from ..control.stage import Stage
from ..control.start_moment import Panes, after_order
from ..model.bookmark import Setup
from ..model.pane_moments import playhead_moment
from ..model.session import Selection, Session
from ..model.thread_turns import schedule_of
from ..panels.side import Inspector
from ..state.actions import ShowTab
from ..widgets.command import Command
from ..widgets.notice import Notice
from .navigation import Navigation

CHOOSE = "Choose who goes next"
FIND = "Find an order that changes the result"
STOP = "Stop the search for an order"
NO_SEARCH = "No search is running"


class OrderSearch(QObject):
    """Starts a search for the pane in focus and shows its result.

    is_own_file: returns True for a trace of a program that the user ran here. write_order: writes an order into the
    exercise that is shown, and returns False without one.
    """

    def __init__(
        self,
        stage: Stage,
        navigation: Navigation,
        notice: Notice,
        side: Inspector,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.stage, self.navigation, self.notice = stage, navigation, notice
        self.is_own_file: Callable[[str], bool] = lambda _: False
        self.write_order: Callable[[str], bool] = lambda _: False
        self._side = side
        self._words: dict[
            str, str
        ] = {}  # the words in the findings, by the key of the launch that was searched
        self._words_of_orders: dict[str, str] = {}  # the same, by the order that was found
        self.job = OrderJob(
            stage.jobs,
            self,
            progressed=self._report,
            searched=self._take,
            failed=self._fail,
        )
        self._stop_action: QAction | None = None
        stage.loaded.connect(self._note_loaded)

    def commands(self) -> list[Command]:
        """List the commands of the menu."""
        return [
            Command(CHOOSE, "Ctrl+Alt+W", self.show_choices),
            Command(FIND, "", self.find),
            Command(STOP, "", self.stop),
        ]

    def allow(self, entries: Mapping[str, QAction]) -> None:
        """Enable the command that stops a search while one runs."""
        self._stop_action = entries[STOP]
        self._stop_action.setStatusTip(NO_SEARCH)
        self._stop_action.setEnabled(False)

    def _show_state(self, words: str) -> None:
        """Show what the search does, "" without one."""
        self._side.show_search(words)
        if self._stop_action is not None:
            self._stop_action.setEnabled(bool(words))

    def _fail(self, sentence: str) -> None:
        self._show_state("")
        self.notice.error(sentence, cause="order")

    def show_choices(self) -> None:
        """Show the tab in which the user chooses who goes next."""
        self.stage.store.dispatch(ShowTab("order", appears=True))

    def find(self) -> None:
        """Search the orders of the launch in focus."""
        session = self._runnable()
        if session is not None:
            self.notice.inform("Searching for an order that changes the result; Escape stops.")
            self._show_state("Searching …")
            self.job.search(session)

    def count_values(self, element: str) -> None:
        """Count the final values of an element over the orders of the launch in focus."""
        session = self._runnable()
        if session is not None:
            self.notice.inform(f"Counting the final values of {element}; Escape stops.")
            self._show_state("Counting …")
            self.job.search(session, element)

    def choose(self, order: Order) -> None:
        """Run the launch in focus in an order, and show the moment after its last part; Back returns."""
        schedule = schedule_of(order)
        if self.write_order(schedule.order_text) or self._runnable() is None:
            return
        here, focus = self.navigation.bookmark(), self.stage.focus
        panes = tuple(
            _with_schedule(setup, schedule) if i == focus else setup for i, setup in enumerate(here.panes)
        )
        if panes == here.panes:
            return
        selections = list(here.selections)
        last = order.segments[-1] if order.segments else None
        if last is not None and last.block >= 0 and focus < len(selections):
            selections[focus] = Selection(last.block, last.first)
        mark = replace(here, panes=panes, selections=tuple(selections), moment=None)
        if self.navigation.show_bookmark(mark, partial(after_order, focus=focus)):
            self.navigation.history.leave(here)

    def _runnable(self) -> Session | None:
        """Return the session in focus if its orders may run; otherwise report why not."""
        session = self.stage.focused()
        if session is None:
            self.notice.error("There is no launch yet; wait until it is traced.", cause="order")
        elif not self._may_run(session):
            self.notice.error(
                "The kernel came with a file and has not run here; choose another schedule and agree to run it first.",
                cause="order",
            )
        elif session.is_python_program:
            self.notice.error("A plain Python program runs in its own order; choose a kernel.", cause="order")
        else:
            self.notice.clear(cause="order")
            return session
        return None

    def stop(self) -> bool:
        """Stop the search; return True if there was one."""
        self._show_state("")
        return self.job.stop()

    def close(self) -> None:
        """End the search."""
        self.job.close()

    def _may_run(self, session: Session) -> bool:
        file = self.stage.setups[self.stage.focus].file
        return self.stage.may_run(session.launch) or self.is_own_file(file)

    def _report(self, tried: int, at_most: float) -> None:
        most = f" of {estimate_text(at_most)}" if at_most > 1 else ""
        self.notice.inform(f"{tried:,} tried{most}; Escape stops.")
        if self._stop_action is not None and self._stop_action.isEnabled():
            self._side.show_search(f"{tried:,} tried{most} …")

    def _take(self, session: Session, result: SearchResult) -> None:
        """Show the result: the final values, or the two orders next to each other; and the words in the findings."""
        self._show_state("")
        if result.element:
            session.keep_final_values(result)
            self.notice.clear("information")  # the bars show what was counted, and nothing may cover them
            if not result.values:
                self.notice.inform(result.verdict)
            self._side.show_values(session)
            return
        self.notice.inform(result.verdict)
        words = (
            f"{result.verdict} {result.changing_order.sentence}".strip()
            if result.changing_order
            else result.verdict
        )
        self._words[session.launch.key()] = words
        self._describe(session)
        if result.changing_order is not None and session in self.stage.sessions:
            self._show_both(self.stage.sessions.index(session), result.changing_order, words)

    def _show_both(self, pane: int, shown: ChangingOrder, words: str) -> None:
        """Show the launch step by step in its own order on the left, and in the found order on the right."""
        setup = self.stage.setups[pane]
        own = setup.schedule
        if own.kind == "lockstep":  # in turns, as in the order on the right
            own = Schedule("order", own.seed, str(LOCKSTEP_ORDER))
        panes = tuple(
            _with_schedule(setup, schedule) for schedule in (own, Schedule("order", own.seed, shown.order))
        )
        here = self.navigation.bookmark()
        selections = (Selection(),) * 2
        if shown.reversal is not None:
            block, thread, _ = shown.reversal.first
            selections = (Selection(block, thread),) * 2
        mark = replace(
            here, panes=panes, selections=selections, moment=None, focus=1, link="moment", tab="findings",
            spotlight=(),
        )  # fmt: skip
        self._words_of_orders[shown.order] = words
        if self.navigation.show_bookmark(mark, lambda panes: _moment_of(panes, shown)):
            self.navigation.history.leave(here)

    def _note_loaded(self, pane: int) -> None:
        session = self.stage.sessions[pane]
        if session is not None:
            self._describe(session)

    def _describe(self, session: Session) -> None:
        """Show the words about a session's order in the findings."""
        order = session.launch.schedule.order_text
        words = self._words_of_orders.get(order) or self._words.get(session.launch.key(), "")
        if words and session.order_words != words:
            session.describe_order(words)
            self._side.show_findings(session)


def _with_schedule(setup: Setup, schedule: Schedule) -> Setup:
    return replace(setup, schedule=schedule, rerun=bool(setup.file))


def _moment_of(panes: Panes, shown: ChangingOrder) -> float:
    """Return the moment of the first reversed access in the order on the right; the end if no access shows it."""
    session = panes.sessions[-1]
    ends = panes.ends()
    if session is None or shown.reversal is None or shown.reversal.early >= len(session.trace):
        return float(max(ends, default=0))
    moment = int(session.requests.moment[session.requests.request[shown.reversal.early]])
    return playhead_moment(moment, len(ends) - 1, ends, panes.link_mode)

"""What a hand that moves a parameter asks for: one picture after the other, each of the newest value by then."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from ..control.stage import Stage
from ..control.start_moment import StartMoment, as_before
from ..model.bookmark import Bookmark, History, Setup
from ..model.session import Selection
from ..model.setup_launch import launch_of_setup

GRACE = 3000  # milliseconds that a trace may take once the hand is off: to leave it costs a new worker, a second or two

Setups = tuple[Setup, ...]
Run = Callable[[Setups, tuple[Selection, ...], StartMoment], bool]


class ByHand(QObject):
    """Between the bar and the stage while a hand moves a parameter.

    What is being made is let end and shown, then the newest wish is asked for: there is never more than one. All of a
    movement is one entry for Back. run: shows setups, False where they are refused. began, ended: around a movement.
    """

    began = Signal()
    ended = Signal()

    def __init__(
        self, stage: Stage, run: Run, bookmark: Callable[[], Bookmark], history: History, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.stage, self.run, self.bookmark, self.history = stage, run, bookmark, history
        self._before: Bookmark | None = None  # what was shown before the movement, None while there is none
        self._moving = False  # whether the hand may wish for more
        self._wish: Setups | None = None  # what is to be asked for next
        self._start: StartMoment = as_before(stage)
        self._left_at = 0.0  # the moment at which the last picture began to be shown
        self._next = QTimer(self, singleShot=True, interval=0)  # once Qt has painted the picture that came
        self._next.timeout.connect(self._go_on)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._leave)
        stage.settled.connect(self._take_note)

    def move(self, setups: Setups) -> None:
        """Wish for other setups, in place of the wish before."""
        if self._before is None:
            self._before = self.bookmark()
            self._start, self._left_at = as_before(self.stage), self.stage.playhead.moment
            self.began.emit()
        self._moving, self._wish = True, setups
        self._grace.stop()
        if not self._next.isActive():
            self._go_on()

    def rest(self) -> None:
        """The hand has let go: what it wished for last comes, though something else is being made."""
        if self._before is not None:
            self._moving = False
            self._grace.start()
            self._next.start()

    def stop(self) -> None:
        """Take what is shown, or being made, for the last wish."""
        self._wish = None
        self._finish()

    def go_back(self) -> bool:
        """Return to what was shown before the movement; return whether there is one."""
        if self._before is None:
            return False
        self._wish, self._moving = self._before.panes, False
        self._leave()
        return True

    def is_at_rest(self) -> bool:
        """Return whether no movement is under way."""
        return self._before is None

    def _take_note(self) -> None:
        """Go on: at once where the next picture takes longer than Qt takes to paint this one, else after that."""
        if self._before is None:
            return
        self._left_at = self.stage.playhead.moment
        self._next.start()
        if self._wish is not None and not self._is_in_memory(self._wish):
            self._go_on()

    def _is_in_memory(self, setups: Setups) -> bool:
        """Return whether some pane's next session is there already."""
        launches = [None if setup.file else launch_of_setup(setup) for setup in setups]
        held = [launch and self.stage.jobs.held(launch) for launch in launches]
        return any(one and one is not now for one, now in zip(held, self.stage.sessions, strict=False))

    def _go_on(self) -> None:
        """Ask for the newest wish where nothing is being made; end where there is none and will be none."""
        if self._wish is not None and self.stage.is_settled():
            self._ask()
        if self._wish is None and not self._moving:
            self._finish()

    def _leave(self) -> None:
        """Ask for the last wish, whatever is being made."""
        if self._wish is not None:
            self._ask()
        self._finish()

    def _ask(self) -> None:
        setups, self._wish = self._wish, None
        if setups is None or setups == self.stage.setups or self._before is None:
            return
        if self.stage.playhead.moment != self._left_at:  # somebody went elsewhere meanwhile
            self._start = as_before(self.stage)
        self.run(setups, self._before.selections, self._start)

    def _finish(self) -> None:
        self._moving = False
        self._next.stop()
        self._grace.stop()
        before, self._before = self._before, None
        if before is not None:
            if before.panes and before.panes != self.stage.setups:
                self.history.leave(before)
            self.ended.emit()

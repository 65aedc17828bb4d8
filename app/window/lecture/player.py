"""The player of a lecture: which step is shown, its question, and what is prepared ahead."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from ....kernels.scenarios.catalogue import CatalogueError, find
from ....tracer.model.launch import Launch
from ....tracer.model.plan import PlanError
from ...control.session_jobs import Source, key_of
from ...control.stage import Stage
from ...control.start_moment import StartMoment
from ...lecture.captions import FilledCaption, fill
from ...lecture.changes import Play
from ...lecture.clock import Clock
from ...lecture.document import Lecture, Step, read_lecture
from ...lecture.expressions import Environment, ExpressionError
from ...lecture.places import PlaceError
from ...lecture.problems import LectureError
from ...lecture.questions import Answer, answer_of
from ...lecture.scenes import Moment, Scene, bookmark_of, moment_of, scenes_of
from ...model.bookmark import Bookmark, Setup
from ...model.session import Session
from ...model.setup_launch import launch_of_setup
from .programs import LecturePrograms, NoLaunch

AHEAD = 3  # steps to come whose sessions are made ahead
UNSHOWABLE = (NoLaunch, CatalogueError, PlanError)  # why a step has no sessions
ShowBookmark = Callable[[Bookmark, StartMoment | None], bool]


class _Filled(Struct):
    """What was computed of the step that is shown, None until somebody asks."""

    caption: FilledCaption | None = None
    answer: Answer | None = None


class LecturePlayer(QObject):
    """Walks through a lecture's steps in a window.

    changed: another lecture, step, answer or blank; a step that plays stands now. shown: the picture of the step is
    there. compiled_asked: the counters of a session as compiled are needed. problem: one sentence, "" where there is
    none. awaited_changed: another step is waited for, or none.

    stage: of the window. bookmark: says what the window shows. show: has it show another one.
    """

    changed = Signal()
    shown = Signal()
    problem = Signal(str)
    awaited_changed = Signal()
    compiled_asked = Signal(object)

    def __init__(
        self,
        stage: Stage,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.stage, self._bookmark, self._show = stage, bookmark, show
        self.lecture: Lecture | None = None
        self.scenes: tuple[Scene, ...] = ()
        self.number = 0  # of the step that is shown, from 0
        self.awaited: int | None = None  # the step that is shown once its sessions are there
        self.is_blank = False
        self.is_revealed = False  # whether the answer to the step's question is shown
        self.chosen: int | None = None  # which of its choices was chosen
        self.is_playing = False  # whether the step has begun to play and does not stand yet
        self.before: Bookmark | None = None  # what the window showed before the lecture
        self._plays = True  # whether the awaited step plays
        self.obstacle = ""  # why the step that is shown has no picture, "" where it has
        self.runnable: Path | None = None  # a program that would give it one, were the user to agree
        self._moment: Moment | None = None
        self._sessions: list[Session] | None = None  # of the step that is shown
        self._launches: dict[str, Launch] = {}  # of the setups of its steps, by their text
        self._filled = _Filled()
        self.clock = Clock()
        self.programs = LecturePrograms(self)
        self.programs.changed.connect(self._take_launches)
        self.programs.noted.connect(self.problem)
        stage.jobs.prepared.connect(self._take_prepared)
        stage.playhead.changed.connect(self._follow)

    # Opening and leaving.

    def open(self, path: Path, number: int = 0, before: Bookmark | None = None) -> bool:
        """Present a lecture from a step on; return False, with `problem` emitted, where it can't be read.

        before: what is shown once it is left, None for what the window shows now.
        """
        try:
            lecture = read_lecture(path)
        except LectureError as error:
            self.problem.emit(str(error))
            return False
        if not lecture.steps:
            self.problem.emit(f"{lecture.problems[0].sentence} ({path.name})")
            return False
        self.before = before or self.before or self._bookmark()
        self._take(lecture)
        self.restart_clock()
        self._tell_problems(lecture)
        self._clear(0)
        self.go(number)
        self.changed.emit()
        return True

    def close(self) -> None:
        """Leave the lecture, and show again what was shown before it."""
        if self.lecture is None:
            return
        before, look = self.before, self._bookmark()
        self.lecture, self.scenes, self.before, self.awaited = None, (), None, None
        self.is_blank = False
        self._clear(0)
        self.programs.stop()
        self.stage.jobs.prepare(())
        self.stage.playhead.stand()
        if before is not None and before.panes:
            self._show(_with_look(before, look), None)
        self.changed.emit()

    def reload(self) -> None:
        """Read the file again and show it at the same step; what can't be read leaves all as it was."""
        if self.lecture is None:
            return
        try:
            lecture = read_lecture(self.lecture.path)
        except LectureError as error:
            self.problem.emit(f"{error} The lecture goes on as it was.")
            return
        if lecture.text == self.lecture.text:
            self.problem.emit("")
            return
        if not lecture.steps or (lecture.problems and not self.lecture.problems):
            self._tell_problems(lecture)
            return
        old, number = self.lecture.steps[self.number], self.number
        titles = [step.title for step in lecture.steps]
        number = titles.index(old.title) if old.title in titles else min(number, len(titles) - 1)
        self._take(lecture)
        self._clear(number)  # what was computed goes with the old steps, which may be more
        self._tell_problems(lecture)
        self.go(number, play=False)
        self.changed.emit()

    def adopt(self, lecture: Lecture, number: int) -> None:
        """Present a lecture as it was written here, at a step as it stands, whatever its file holds."""
        if self.lecture is None:
            self.before = self._bookmark()
            self.restart_clock()
        self._take(lecture)
        self._clear(number)
        self.go(number, play=False)
        self.changed.emit()

    def _take(self, lecture: Lecture) -> None:
        self.lecture, self.scenes = lecture, scenes_of(lecture)
        self._launches.clear()

    def _clear(self, number: int) -> None:
        """Forget what was shown of a step, and turn to another one."""
        self.number, self.obstacle, self.runnable, self._moment, self._sessions = number, "", None, None, None
        self._filled, self.chosen, self.is_revealed, self.is_playing = _Filled(), None, False, False

    def _tell_problems(self, lecture: Lecture) -> None:
        """Tell the first thing that is wrong with a lecture, and how much more."""
        problems = lecture.problems
        if problems:
            more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
            self.problem.emit(f"{lecture.path.name}, {problems[0]}{more}")

    # Walking.

    @property
    def step(self) -> Step | None:
        """The step that is shown."""
        return self.lecture.steps[self.number] if self.lecture else None

    def next(self) -> None:
        """Go on: to where the step stands, to the answer of its question, to the next step."""
        step = self.step
        if step is None or self._unblanked():
            return
        if self.awaited is not None:
            self.go(self.awaited + 1)
        elif self.is_playing:
            self.stand()
        elif step.change.question and not self.is_revealed and self.reveal():
            return
        else:
            self.go(self.number + 1)

    def previous(self) -> None:
        """Go back to the step before as it stood when it was left: played, its question answered."""
        if self.lecture is None or self._unblanked():
            return
        self.go((self.number if self.awaited is None else self.awaited) - 1, play=False)

    def go(self, number: int, play: bool = True) -> None:
        """Go to a step, once its sessions are there; without `play` it stands, its question answered."""
        if self.lecture is None or not 0 <= number < len(self.lecture.steps):
            return
        self.is_blank = False
        self.awaited, self._plays = number, play
        self.stage.cancel()
        if self._sessions_of(number) is None:
            self._prepare(number, urgent=True)
        self._try_to_show()
        self.awaited_changed.emit()

    def agree(self) -> None:
        """Let the program run that the step needs."""
        if self.runnable is not None:
            self.programs.agree(self.runnable)

    def cancel(self) -> bool:
        """Wait no longer for a step, or for its program; return whether one was waited for."""
        if self.programs.stop():
            return True
        if self.awaited is None:
            return False
        self.awaited = None
        self._prepare(self.number, urgent=False)
        self.awaited_changed.emit()
        return True

    def stand(self) -> None:
        """Show the step as it stands; also after somebody has looked at something else."""
        if self.lecture is not None and self._moment is not None:
            self.is_playing = False
            self.stage.playhead.stand()
            self._show_at(self._moment.stand, standing=True)
            self.changed.emit()

    def reveal(self) -> bool:
        """Show the answer to the step's question; return False where there is none, or it is shown already."""
        if self.is_revealed or self.answer() is None:
            return False
        self.is_revealed = True
        self.changed.emit()
        return True

    def choose(self, i: int) -> None:
        """Choose one of the question's choices, counted from 0, until the answer is shown."""
        question = self.step.change.question if self.step else None
        if question and not self.is_revealed and 0 <= i < len(question.choices):
            self.chosen = i
            self.changed.emit()

    def toggle_blank(self) -> None:
        """Blank the screen, or show it again."""
        if self.lecture is not None:
            self.is_blank = not self.is_blank
            self.changed.emit()

    def _unblanked(self) -> bool:
        """Show the screen again where it is blank; return whether it was."""
        was, self.is_blank = self.is_blank, False
        if was:
            self.changed.emit()
        return was

    # The clock.

    def seconds_gone(self) -> float:
        """Return how long the lecture has been presented."""
        return self.clock.seconds()

    def restart_clock(self) -> None:
        """Count the time from now on."""
        self.clock.restart()

    # What the step says.

    def caption(self) -> FilledCaption | None:
        """Return the caption of the step that is shown, with its numbers."""
        shows = self._moment is not None or self.obstacle
        if self._filled.caption is None and self.step is not None and shows:
            self._filled.caption = fill(self.step.caption, self._names() or {})
        return self._filled.caption

    def notes(self) -> FilledCaption | None:
        """Return what the speaker reads at the step that is shown, with its numbers."""
        return None if self.step is None else fill(self.step.spoken, self._names() or {})

    def answer(self) -> Answer | None:
        """Return the answer to the step's question, None where there is none."""
        question, names = self.step.change.question if self.step else None, self._names()
        if question and names and self._filled.answer is None:
            try:
                self._filled.answer = answer_of(question, names)
            except ExpressionError as error:
                self.problem.emit(str(error))
        return self._filled.answer

    def moment(self) -> Moment | None:
        """Return where the step that is shown begins and stands."""
        return self._moment

    def sessions(self) -> list[Session] | None:
        """Return the sessions of the step that is shown, None where they are not there."""
        return self._sessions

    def prepared(self, number: int) -> tuple[tuple[Setup, ...], list[Session]] | None:
        """Return what the panes of a step run, with their sessions; None where these are not there."""
        sessions = self._sessions_of(number) if self.lecture else None
        return None if sessions is None else (self._setups_of(number), sessions)

    def _names(self) -> Environment | None:
        if self._moment is None or self._sessions is None:
            return None
        from ...lecture.check import environment_of  # the window starts without it

        return environment_of(
            self.scenes[self.number], self._sessions, self._moment, self.compiled_asked.emit
        )

    def take_compiled(self, session: Session) -> None:
        """Say the numbers of the step that is shown anew, now that a session's counters as compiled are known."""
        if any(one is session for one in self._sessions or ()):
            self._filled = _Filled()
            self.changed.emit()

    # Sessions.

    def _setups_of(self, number: int) -> tuple[Setup, ...]:
        """Return what the panes of a step run; raises NoLaunch, CatalogueError and PlanError.

        A step with a chart alone has below it the panes of the next step that has some.
        """
        assert self.lecture
        scenes = [scene for scene in self.scenes[number:] if scene.panes]
        if not self.scenes[number].panes and not self.scenes[number].look.chart:
            raise NoLaunch("Nothing is shown yet; say what with show: SCENARIO.")
        if not scenes:
            return self.stage.setups
        folder = self.lecture.folder
        return tuple(
            pane if isinstance(pane, Setup) else self._agreed(self.programs.setup_of(pane, folder))
            for pane in scenes[0].panes
        )

    def _agreed(self, setup: Setup) -> Setup:
        """Let the stage run the text of a kernel that the user agreed to."""
        if setup.source:
            self.stage.trust_text(find(setup.scenario).kernel, setup.source)
        return setup

    def _sources_of(self, number: int) -> list[Source]:
        """Return what the sessions of a step are made from; raises NoLaunch, CatalogueError and PlanError."""
        return [setup.file or self._launch_of(setup) for setup in self._setups_of(number)]

    def _launch_of(self, setup: Setup) -> Launch:
        key = repr(setup)
        if key not in self._launches:
            self._launches[key] = launch_of_setup(setup)
        return self._launches[key]

    def _sessions_of(self, number: int) -> list[Session] | None:
        """Return the sessions of a step, None where some are not there."""
        try:
            found = [self.stage.jobs.held(source) for source in self._sources_of(number)]
        except UNSHOWABLE:
            return None
        known = [session for session in found if session is not None]
        return known if len(known) == len(found) else None

    def _prepare(self, number: int, *, urgent: bool) -> None:
        """Have the sessions of a step made, then those of the next ones and of the one before."""
        wanted: dict[str, Source] = {}
        first = 0
        for i in (number, *range(number + 1, number + 1 + AHEAD), number - 1):
            if 0 <= i < len(self.scenes):
                with suppress(*UNSHOWABLE):  # told when the step is reached
                    wanted |= {key_of(source): source for source in self._sources_of(i)}
            first = len(wanted) if i == number else first
        self.stage.jobs.prepare(list(wanted.values()), urgent=first if urgent else 0)

    def _take_prepared(self, key: str, why: str) -> None:
        if self.awaited is None:
            return
        with suppress(*UNSHOWABLE):
            if why and key in [key_of(source) for source in self._sources_of(self.awaited)]:
                self._show_obstacle(self.awaited, why)
                return
        self._try_to_show()

    def _take_launches(self) -> None:
        """Go on with a step that needs the launches of a program: it runs now, or has ended."""
        if self.awaited is not None:
            self._try_to_show()
        elif self.obstacle:
            self.go(self.number, self._plays)

    def _try_to_show(self) -> None:
        """Show the awaited step if its sessions are there."""
        number = self.awaited
        if number is None or self.lecture is None:
            return
        try:
            self._sources_of(number)
            sessions = self._sessions_of(number)
            if sessions is not None:
                self._show_step(number, sessions, moment_of(self.lecture, self.scenes, number, sessions))
        except NoLaunch as error:
            self._show_obstacle(number, str(error), error.path)
        except (CatalogueError, PlanError, PlaceError) as error:
            self._show_obstacle(number, str(error))

    def _show_step(self, number: int, sessions: list[Session], moment: Moment) -> None:
        """Show a step at its beginning, or as it stands."""
        self._clear(number)
        self._moment, self.is_revealed = moment, not self._plays
        self._sessions = sessions if self.scenes[number].panes else []
        play = self.scenes[number].play if self._plays else None
        self.stage.playhead.stand()
        self._show_at(moment.begin if play else moment.stand, standing=play is None)
        if play:
            self._play(play, moment)
        self._arrive()

    def _show_obstacle(self, number: int, sentence: str, runnable: Path | None = None) -> None:
        """Turn to a step without its picture, which can't be shown, and say why."""
        self._clear(number)
        self.obstacle, self.runnable = sentence, runnable
        self.stage.playhead.stand()
        self._arrive()

    def _arrive(self) -> None:
        self.awaited = None
        self._prepare(self.number, urgent=False)
        self.changed.emit()
        self.awaited_changed.emit()
        self.shown.emit()

    def _show_at(self, position: float, *, standing: bool) -> None:
        assert self._moment
        scene, look = self.scenes[self.number], self._bookmark()
        selections = self._moment.selections if standing else self._moment.first_selections
        mark = bookmark_of(scene, self._setups_of(self.number), look)
        self._show(msgspec.structs.replace(mark, selections=selections, moment=position), None)

    def _play(self, play: Play, moment: Moment) -> None:
        pace = (moment.stand - moment.begin) / play.seconds if play.seconds else play.speed
        self.is_playing = True
        self.stage.playhead.play_to(moment.stand, pace or None)
        self._follow()

    def _follow(self) -> None:
        """Let the step stand once it has played, or somebody has gone beyond where it stands."""
        playhead, moment = self.stage.playhead, self._moment
        if not self.is_playing or playhead.stop is not None or moment is None:
            return
        self.is_playing = False
        if playhead.moment == moment.stand:
            self.stand()
        else:
            self.changed.emit()


def _with_look(mark: Bookmark, look: Bookmark) -> Bookmark:
    """Return a bookmark in the colours, text size and words of another one."""
    return msgspec.structs.replace(
        mark, theme=look.theme, text_scale=look.text_scale, reduced_motion=look.reduced_motion
    )

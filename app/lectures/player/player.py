"""The player of a lecture: the current step, its question, and the preparation of the next steps."""

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
from ...control.session_jobs import Source, session_key
from ...control.stage import Stage
from ...control.start_moment import StartMoment
from ...model.bookmark import Bookmark, Setup
from ...model.nothing import nothing
from ...model.session import Session
from ...model.setup_launch import launch_of_setup
from ..model.captions import FilledCaption, fill_caption
from ..model.changes import Play
from ..model.clock import Clock
from ..model.document import Lecture, Step, read_lecture
from ..model.expressions import Environment, ExpressionError
from ..model.problems import LectureError, Problem
from ..model.questions import Answer, answer_of
from ..model.scenes import Moment, Scene, moment_of, scene_bookmark, scenes_of
from ..model.time_anchors import TimeAnchorError
from .programs import LaunchUnavailableError, LecturePrograms

AHEAD = 3  # following steps whose sessions are prepared
UNSHOWABLE = (LaunchUnavailableError, CatalogueError, PlanError)  # the reasons for a step without sessions
ShowBookmark = Callable[[Bookmark, StartMoment | None], bool]


class _Filled(Struct):
    """The cached texts of the current step, None until they are requested."""

    caption: FilledCaption | None = None
    answer: Answer | None = None


class LecturePlayer(QObject):
    """Walks through a lecture's steps in a window.

    changed: the lecture, step, answer or blank screen has changed, or a step has finished playing. shown: the step's
    picture is shown. votes_changed: `votes` has changed. compiled_asked: the compiled counters of a session are needed.
    problem: one sentence, "" for none. awaited_changed: another step is awaited, or none.

    stage: of the window. bookmark: returns the window's state. show: restores a state.
    """

    changed = Signal()
    shown = Signal()
    votes_changed = Signal()
    awaited_changed = Signal()

    def __init__(
        self,
        stage: Stage,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.problem: Callable[[str], object] = nothing
        self.compiled_asked: Callable[[Session], None] = nothing
        self.votes = ""  # how many phones of a hall have voted, "" without a hall or an open vote
        self.close_vote: Callable[[], object] = nothing  # of the hall
        self.stage, self._bookmark, self._show = stage, bookmark, show
        self.lecture: Lecture | None = None
        self.scenes: tuple[Scene, ...] = ()
        self.number = 0  # of the current step, from 0
        self.awaited: int | None = None  # the step that is shown once its sessions are loaded
        self.is_blank = False
        self.is_revealed = False  # whether the answer to the step's question is shown
        self.chosen: int | None = None  # the index of the chosen answer
        self.is_playing = False  # whether the step is still playing
        self._waits_to_play = False  # until its question is answered
        self.before: Bookmark | None = None  # the window's state before the lecture
        self._plays = True  # whether the awaited step plays
        self._is_answered = False  # whether the awaited step shows its answer
        self.obstacle = ""  # the reason why the step has no picture, "" if it has one
        self.runnable: Path | None = None  # a program that would provide one with the user's consent
        self._moment: Moment | None = None
        self._sessions: list[Session] | None = None  # of the current step
        self._launches: dict[str, Launch] = {}  # by the text of their setups
        self._filled = _Filled()
        self.clock = Clock()
        self.programs = LecturePrograms(self, self._take_launches, lambda a: self.problem(a))
        stage.jobs.prepared.connect(self._take_prepared)
        stage.playhead.changed.connect(self._follow)

    # Opening and leaving.

    def open(self, path: Path, number: int = 0, before: Bookmark | None = None) -> bool:
        """Present a lecture from a step on; emit `problem` and return False if it can't be read.

        before: restored once the lecture is left, None for the current state.
        """
        try:
            lecture = read_lecture(path)
        except LectureError as error:
            self.problem(str(error))
            return False
        if not lecture.steps:
            self.problem(f"{lecture.problems[0].sentence} ({path.name})")
            return False
        self.before = before or self.before or self._bookmark()
        self._take(lecture)
        self.restart_clock()
        self._report_problems(lecture)
        self._clear(0)
        self.go(number)
        self.changed.emit()
        return True

    def close(self) -> None:
        """Leave the lecture and restore the state before it."""
        if self.lecture is None:
            return
        before, look = self.before, self._bookmark()
        self.lecture, self.scenes, self.before, self.awaited = None, (), None, None
        self.is_blank = False
        self._clear(0)
        self.programs.stop()
        self.stage.jobs.prepare(())
        self.stage.playhead.halt()
        if before is not None and before.panes:
            self._show(_with_look(before, look), None)
        self.changed.emit()

    def reload(self) -> None:
        """Read the file again and show the same step; an unreadable file changes nothing."""
        if self.lecture is None:
            return
        try:
            lecture = read_lecture(self.lecture.path)
        except LectureError as error:
            self.problem(f"{error} The previous version of the lecture is still shown.")
            return
        if lecture.text == self.lecture.text:
            self.problem("")
            return
        if not lecture.steps or (lecture.problems and not self.lecture.problems):
            self._report_problems(lecture)
            return
        old, number = self.lecture.steps[self.number], self.number
        titles = [step.title for step in lecture.steps]
        number = titles.index(old.title) if old.title in titles else min(number, len(titles) - 1)
        self._replace(lecture, number)
        self._report_problems(lecture)

    def adopt(self, lecture: Lecture, number: int) -> None:
        """Present an edited lecture at the final moment of a step, regardless of its file."""
        if self.lecture is None:
            self.before = self._bookmark()
            self.restart_clock()
        self._replace(lecture, number)

    def _replace(self, lecture: Lecture, number: int) -> None:
        """Show a step of a changed lecture; what the audience has not seen yet stays hidden."""
        old, new = self.step, lecture.steps[number]
        asked, asks = old.change.question if old else None, new.change.question
        is_same = asked is not None and old is not None and (asked == asks or old.title == new.title)
        was_answered, chosen, was_blank = is_same and self.is_revealed, self.chosen, self.is_blank
        self._take(lecture)
        self._clear(number)  # drop the cached texts of the old steps
        self.go(number, play=False, answered=was_answered)
        self.is_blank = was_blank
        if asked == asks:
            self.chosen = chosen
        self.changed.emit()

    def _take(self, lecture: Lecture) -> None:
        self.lecture, self.scenes = lecture, scenes_of(lecture)
        self._launches.clear()

    def _clear(self, number: int) -> None:
        """Reset the state of the step, and set another number."""
        self.number, self.obstacle, self.runnable, self._moment, self._sessions = number, "", None, None, None
        self._filled, self.chosen, self.is_revealed, self.is_playing = _Filled(), None, False, False
        self._waits_to_play = False

    def _report_problems(self, lecture: Lecture) -> None:
        """Report the first problem of a lecture, and the number of others."""
        problems = lecture.problems
        if problems:
            more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
            self.problem(f"{lecture.path.name}, {problems[0]}{more}")

    # Walking.

    @property
    def step(self) -> Step | None:
        """The current step."""
        return self.lecture.steps[self.number] if self.lecture else None

    def next(self) -> None:
        """Advance to the step's final moment, to the answer of its question, or to the next step."""
        step = self.step
        if step is None or self._unblank():
            return
        if self.awaited is not None:
            self.go(self.awaited + 1)
        elif self.is_playing:
            self.show_final_moment()
        elif step.change.question and not self.is_revealed and self.reveal():
            return
        else:
            self.go(self.number + 1)

    def has_next(self) -> bool:
        """Return True if `next` shows something else: the picture, a final moment, an answer or a step."""
        step, lecture = self.step, self.lecture
        if lecture is None or step is None:
            return False
        asks = bool(step.change.question) and not self.is_revealed
        return self.is_blank or self.is_playing or asks or self.number + 1 < len(lecture.steps)

    def previous(self) -> None:
        """Go back to the previous step, played and with its question answered."""
        if self.lecture is None or self._unblank():
            return
        self.go((self.number if self.awaited is None else self.awaited) - 1, play=False)

    def go(self, number: int, play: bool = True, answered: bool | None = None) -> None:
        """Go to a step once its sessions are loaded; without `play`, at its final moment.

        answered: show the answer to its question; None shows it unless the step plays.
        """
        if self.lecture is None or not 0 <= number < len(self.lecture.steps):
            return
        self.is_blank = False
        self.awaited, self._plays = number, play
        self._is_answered = not play if answered is None else answered
        self.stage.cancel()
        if self._sessions_of(number) is None:
            self._prepare(number, urgent=True)
        self._try_to_show()
        self.awaited_changed.emit()

    def agree(self) -> None:
        """Run the program that the step needs, since the user agreed."""
        if self.runnable is not None:
            self.programs.agree(self.runnable)

    def cancel(self) -> bool:
        """Cancel the wait for a step or its program; return False if there was none."""
        if self.programs.stop():
            return True
        if self.awaited is None:
            return False
        self.awaited = None
        self._prepare(self.number, urgent=False)
        self.awaited_changed.emit()
        return True

    def show_final_moment(self) -> None:
        """Show the step's final moment, also after the user has shown other things.

        A step that waits for the answer to its question shows its first moment.
        """
        if self.lecture is not None and self._moment is not None:
            self.is_playing = False
            self.stage.playhead.halt()
            waits = self._waits_to_play
            self._show_at(self._moment.begin if waits else self._moment.stand, standing=not waits)
            self.changed.emit()

    def reveal(self) -> bool:
        """Show the answer to the step's question; return False if there is none or it is shown already."""
        if self.is_revealed or self.answer() is None:
            return False
        self.is_revealed = True
        self.changed.emit()
        self._play_answer()
        return True

    def _play_answer(self) -> None:
        """Play a step whose question is answered now; the end could have given the answer away."""
        scene, moment = self.scenes[self.number], self._moment
        if scene.play and moment is not None and self._waits_to_play:
            self._waits_to_play = False
            self._show_at(moment.begin, standing=False)
            self._play(scene.play, moment)
            self.changed.emit()

    def choose(self, i: int) -> None:
        """Choose an answer, counted from 0, unless the right one is shown."""
        question = self.step.change.question if self.step else None
        choices = question.choices if question and question.kind == "choose" else ()
        if not self.is_revealed and 0 <= i < len(choices):
            self.chosen = i
            self.changed.emit()

    def note_votes(self, votes: str) -> None:
        """Show the speaker how many phones of a hall have voted, "" for no vote."""
        if votes != self.votes:
            self.votes = votes
            self.votes_changed.emit()

    def toggle_blank(self) -> None:
        """Switch the blank screen on or off."""
        if self.lecture is not None:
            self.is_blank = not self.is_blank
            self.changed.emit()

    def _unblank(self) -> bool:
        """End the blank screen; return False if the screen was not blank."""
        was_blank, self.is_blank = self.is_blank, False
        if was_blank:
            self.changed.emit()
        return was_blank

    # The timer.

    def seconds_gone(self) -> float:
        """Return the seconds since the start of the lecture."""
        return self.clock.seconds()

    def restart_clock(self) -> None:
        """Restart the timer."""
        self.clock.restart()

    # Texts of the step.

    def caption(self) -> FilledCaption | None:
        """Fill the caption of the current step with its numbers."""
        shows = self._moment is not None or self.obstacle
        if self._filled.caption is None and self.step is not None and shows:
            self._filled.caption = fill_caption(self.step.caption, self._names())
        return self._filled.caption

    def notes(self) -> FilledCaption | None:
        """Fill the speaker's notes of the current step with their numbers."""
        return None if self.step is None else fill_caption(self.step.spoken, self._names())

    def text_problems(self) -> tuple[Problem, ...]:
        """List the numbers of caption and notes that can't be computed; empty if the step has no picture."""
        filled = (self.caption(), self.notes()) if self._moment is not None else ()
        return tuple(problem for text in filled if text is not None for problem in text.problems)

    def answer(self) -> Answer | None:
        """Compute the answer to the step's question, None without one."""
        question, names = self.step.change.question if self.step else None, self._names()
        if question and names and self._filled.answer is None:
            try:
                self._filled.answer = answer_of(question, names)
            except ExpressionError as error:
                self.problem(str(error))
        return self._filled.answer

    def moment(self) -> Moment | None:
        """Return the first and final moments of the current step."""
        return self._moment

    def sessions(self) -> list[Session] | None:
        """Return the sessions of the current step, None if they are not loaded."""
        return self._sessions

    def prepared_step(self, number: int) -> tuple[tuple[Setup, ...], list[Session]] | None:
        """Return the setups and sessions of a step's panes; None if the sessions are not loaded."""
        sessions = self._sessions_of(number) if self.lecture else None
        return None if sessions is None else (self.setups_of(number), sessions)

    def _names(self) -> Environment | None:
        if self._moment is None or self._sessions is None:
            return None
        from ..model.check import environment_of  # the window starts without it

        return environment_of(
            self.scenes[self.number], self._sessions, self._moment, lambda a: self.compiled_asked(a)
        )

    def take_compiled(self, session: Session) -> None:
        """Fill the texts of the current step again, now that a session's compiled counters are known."""
        if any(shown is session for shown in self._sessions or ()):
            self._filled = _Filled()
            self.changed.emit()

    # Sessions.

    def setups_of(self, number: int) -> tuple[Setup, ...]:
        """Return the setups of a step's panes; raises LaunchUnavailableError, CatalogueError and PlanError.

        A trusted program is run if necessary. A step with only a chart uses the panes of the next step that has some.
        """
        assert self.lecture
        scenes = [scene for scene in self.scenes[number:] if scene.panes]
        if not self.scenes[number].panes and not self.scenes[number].look.chart:
            raise LaunchUnavailableError("Nothing is shown yet; say what with show: SCENARIO.")
        if not scenes:
            return self.stage.setups
        folder = self.lecture.folder
        return tuple(
            pane if isinstance(pane, Setup) else self._trusted(self.programs.setup_of(pane, folder))
            for pane in scenes[0].panes
        )

    def _trusted(self, setup: Setup) -> Setup:
        """Mark the text of a kernel as trusted, since the user agreed to it."""
        if setup.source:
            self.stage.trust_text(find(setup.scenario).kernel, setup.source)
        return setup

    def _sources_of(self, number: int) -> list[Source]:
        """List the sources of a step's sessions; raises LaunchUnavailableError, CatalogueError and PlanError."""
        return [setup.file or self._launch_of(setup) for setup in self.setups_of(number)]

    def _launch_of(self, setup: Setup) -> Launch:
        key = repr(setup)
        if key not in self._launches:
            self._launches[key] = launch_of_setup(setup)
        return self._launches[key]

    def _sessions_of(self, number: int) -> list[Session] | None:
        """Return the sessions of a step, None if some are not loaded."""
        try:
            sessions = [self.stage.jobs.session_in_memory(source) for source in self._sources_of(number)]
        except UNSHOWABLE:
            return None
        loaded = [session for session in sessions if session is not None]
        return loaded if len(loaded) == len(sessions) else None

    def _prepare(self, number: int, *, urgent: bool) -> None:
        """Prepare the sessions of a step, then those of the next steps and of the previous one."""
        wanted: dict[str, Source] = {}
        first = 0
        for i in (number, *range(number + 1, number + 1 + AHEAD), number - 1):
            if 0 <= i < len(self.scenes):
                with suppress(*UNSHOWABLE):  # reported when the step is reached
                    wanted |= {session_key(source): source for source in self._sources_of(i)}
            first = len(wanted) if i == number else first
        self.stage.jobs.prepare(list(wanted.values()), urgent=first if urgent else 0)

    def _take_prepared(self, key: str, reason: str) -> None:
        if self.awaited is None:
            return
        with suppress(*UNSHOWABLE):
            if reason and key in [session_key(source) for source in self._sources_of(self.awaited)]:
                self._show_obstacle(self.awaited, reason)
                return
        self._try_to_show()

    def _take_launches(self) -> None:
        """Continue with a step that needs the launches of a program, which has started or ended."""
        if self.awaited is not None:
            self._try_to_show()
        elif self.obstacle:
            self.go(self.number, self._plays, self._is_answered)

    def _try_to_show(self) -> None:
        """Show the awaited step if its sessions are loaded."""
        number = self.awaited
        if number is None or self.lecture is None:
            return
        try:
            self._sources_of(number)
            sessions = self._sessions_of(number)
            if sessions is not None:
                self._show_step(number, sessions, moment_of(self.lecture, self.scenes, number, sessions))
        except LaunchUnavailableError as error:
            self._show_obstacle(number, str(error), error.path)
        except (CatalogueError, PlanError, TimeAnchorError) as error:
            self._show_obstacle(number, str(error))

    def _show_step(self, number: int, sessions: list[Session], moment: Moment) -> None:
        """Show a step at its first or final moment; a step that plays waits for the answer to its question."""
        self._clear(number)
        self._moment, self.is_revealed = moment, self._is_answered
        self._sessions = sessions if self.scenes[number].panes else []
        scene, step = self.scenes[number], self.step
        asks = bool(step and step.change.question) and not self._is_answered
        self._waits_to_play = asks and scene.play is not None
        play = scene.play if self._plays and not asks else None
        begins = play is not None or self._waits_to_play
        self.stage.playhead.halt()
        self._show_at(moment.begin if begins else moment.stand, standing=not begins)
        if play:
            self._play(play, moment)
        self._finish_going()

    def _show_obstacle(self, number: int, sentence: str, runnable: Path | None = None) -> None:
        """Go to a step whose picture can't be shown, with the reason."""
        self._clear(number)
        self.obstacle, self.runnable = sentence, runnable
        self.stage.playhead.halt()
        self._finish_going()

    def _finish_going(self) -> None:
        self.awaited = None
        self._prepare(self.number, urgent=False)
        self.changed.emit()
        self.awaited_changed.emit()
        self.shown.emit()

    def _show_at(self, position: float, *, standing: bool) -> None:
        assert self._moment
        scene, look = self.scenes[self.number], self._bookmark()
        selections = self._moment.selections if standing else self._moment.first_selections
        mark = scene_bookmark(scene, self.setups_of(self.number), look)
        self._show(msgspec.structs.replace(mark, selections=selections, moment=position), None)

    def _play(self, play: Play, moment: Moment) -> None:
        pace = (moment.stand - moment.begin) / play.seconds if play.seconds else play.speed
        self.is_playing = True
        self.stage.playhead.play_to(moment.stand, pace or None)
        self._follow()

    def _follow(self) -> None:
        """Finish the step once it has played to its final moment, or the user has moved on."""
        playhead, moment = self.stage.playhead, self._moment
        if not self.is_playing or playhead.stop is not None or moment is None:
            return
        self.is_playing = False
        if playhead.moment == moment.stand:
            self.show_final_moment()
        else:
            self.changed.emit()


def _with_look(mark: Bookmark, look: Bookmark) -> Bookmark:
    """Copy theme, text size and motion of a look into a bookmark."""
    return msgspec.structs.replace(
        mark, theme=look.theme, text_scale=look.text_scale, reduced_motion=look.reduced_motion
    )

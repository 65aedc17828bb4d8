"""The document of a replay for JSON: steps, their tracks and sessions, and the tables of drawings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from ...kernels.scenarios.catalogue import find
from ..model.explanation import Explanation
from ..model.session import Session
from ..model.setup_edits import differences
from ..model.visible_text import escape_controls
from ..timings.measured_job import MeasuredTimes
from ..views.common.value_marks import TimelineMark, timeline_marks
from ..views.counters.numbers import has_conflicts
from ..widgets.patterns import LOOKS, WAITING, mixed
from ..widgets.theme import DARK, LIGHT, MONO, SANS, Theme
from .drawings import Drawings
from .frames import Form, PaneLook, themes_of
from .session_data import session_data
from .showing import AGAIN, COMPLETE, Range, Showing, looks_of
from .track import Track

VERSION = 1
Progress = Callable[[int, int], None]  # (moments done, moments in all)


class _ShownSession(Struct):
    """A session with its tracks."""

    session: Session
    look: PaneLook  # gives the vocabulary
    tracks: list[Track] = field(default_factory=list)
    wavefronts: bool = False  # whether shared memory wavefronts are counted


class ReplayDocument:
    """Collects steps, draws their tracks once all are known, and serialises everything."""

    def __init__(self, title: str, form: Form) -> None:
        self.title, self.form = title, form
        self.introduction: list[Any] = []  # text trees before the first step
        self.drawings = Drawings()
        self.steps: list[dict[str, Any]] = []
        self._tracks: dict[Hashable, Track] = {}
        self._wanted: dict[Hashable, set[int]] = {}  # by track, the moments to draw
        self._shown: list[_ShownSession] = []
        self._shown_launches: set[tuple[int, ...]] = set()  # tuples of launches shown side by side so far
        self._times = MeasuredTimes()

    def add_step(self, texts: dict[str, Any], showing: Showing | None, limit: int = COMPLETE) -> None:
        """Add a step with its texts and its showing.

        limit: launches with at most this many moments are complete at their first step. Later steps and longer
        launches have only the moments around the step's final one.
        """
        step = dict(texts)
        if showing is not None:
            launches = tuple(map(id, showing.sessions))
            shown_range = showing.moments(AGAIN if launches in self._shown_launches else limit)
            self._shown_launches.add(launches)
            looks = looks_of(showing, self.form)
            if "question" in step and any(map(_shows_answers, showing.sessions, looks)):
                step["asking"] = self._tracks_of(
                    showing, [look.without_answers() for look in looks], shown_range
                )
            step |= {
                "tracks": self._tracks_of(showing, looks, shown_range),
                "link": showing.look.link,
                "range": list(shown_range),
                "begin": showing.moment.begin,
                "stand": showing.moment.stand,
                "plays": showing.is_played,
                "speed": showing.speed,
                "focus": min(showing.look.focus, len(looks) - 1),
                "panel": showing.look.tab if showing.look.side == "shown" else "source",
                **_path_of(showing, looks),
                **self._headings(showing),
            }
        self.steps.append(step)

    def _tracks_of(self, showing: Showing, looks: Sequence[PaneLook], shown_range: Range) -> list[int]:
        """Return the numbers of the panes' tracks."""
        return [self._track(showing, pane, look, shown_range) for pane, look in enumerate(looks)]

    def _track(self, showing: Showing, pane: int, look: PaneLook, shown_range: Range) -> int:
        """Return the number of a pane's track, which steps with the same content share."""
        session, selection = showing.sessions[pane], showing.moment.selections[pane]
        key = id(session), look, selection
        if key not in self._tracks:
            self._tracks[key] = Track(session, look, selection, self.form, self.drawings)
            self._wanted[key] = set()
        self._wanted[key].update(showing.pane_range(pane, shown_range))
        shown_session = self._session(session, look)
        if self._tracks[key] not in shown_session.tracks:
            shown_session.tracks.append(self._tracks[key])
        shown_session.wavefronts |= any(has_conflicts(other) for other in showing.sessions)
        return list(self._tracks).index(key)

    def _session(self, session: Session, look: PaneLook) -> _ShownSession:
        match = next(
            (shown for shown in self._shown if shown.session is session and shown.look.words == look.words),
            None,
        )
        if match is None:
            match = _ShownSession(session, look)
            self._shown.append(match)
        return match

    def _headings(self, showing: Showing) -> dict[str, Any]:
        """Return the differences between the panes, and their measured times."""
        from ..timings.model.nearest_measured import line_texts  # the window starts without it

        if self._times.sources is None:
            self._times.read_now()
        scenarios = {setup.scenario: find(setup.scenario) for setup in showing.setups if setup.scenario}
        times = self._times.of_panes(showing.setups, showing.sessions)
        measured_texts = []
        for i, time in enumerate(times):
            other = next((t for j, t in enumerate(times) if j != i), None)
            is_shown = time is not None and (time.is_exact or showing.look.nearest == "shown")
            measured_texts.append(escape_controls(line_texts(time, other)[0]) if time and is_shown else "")
        return {
            "apart": [escape_controls(text) for text in differences(showing.setups, scenarios)],
            "measured": measured_texts,
        }

    @property
    def moments(self) -> int:
        """The number of moments to draw in all tracks."""
        return sum(map(len, self._wanted.values()))

    def draw(self, progress: Progress = lambda done, total: None) -> None:
        """Draw every moment of every track."""
        total, done = self.moments, 0
        for key, track in self._tracks.items():
            for moment in sorted(self._wanted[key]):
                track.record(moment)
                done += 1
                progress(done, total)

    def written(self) -> dict[str, Any]:
        """Serialise the drawn document for JSON."""
        tracks = {id(track): i for i, track in enumerate(self._tracks.values())}
        of_track = {tracks[id(track)]: i for i, shown in enumerate(self._shown) for track in shown.tracks}
        return {
            "version": VERSION,
            "title": escape_controls(self.title),
            "introduction": self.introduction,
            "look": look_of(),
            "steps": self.steps,
            "tracks": [track.written(of_track[i]) for i, track in enumerate(self._tracks.values())],
            "sessions": [self._session_data(shown) for shown in self._shown],
            **self.drawings.written(),
        }

    def _session_data(self, shown: _ShownSession) -> dict[str, Any]:
        say = themes_of(shown.look, self.form, shown.session)[0].translate
        moments = set().union(*(track.moments for track in shown.tracks))
        blocks = set().union(*(track.blocks for track in shown.tracks))
        return session_data(shown.session, say, moments, blocks, shown.wavefronts)


def _shows_answers(session: Session, look: PaneLook) -> bool:
    """Check whether a pane's picture has reasons, a path or faults, which can answer a question."""
    check = session.trace.check
    return bool(look.histogram or look.explanation or session.findings or (check and not check.equal))


def _marks_of(session: Session, explanation: Explanation) -> dict[str, list[TimelineMark]]:
    """List the marks of a path by block; in JSON each is warp, moment and whether there is a fault."""
    blocks = np.unique(session.trace.block[explanation.rows]).tolist()
    return {str(block): timeline_marks(session, explanation, block) for block in blocks}


def _path_of(showing: Showing, looks: list[PaneLook]) -> dict[str, Any]:
    """Return the path of the traced value in each pane.

    It has a title, sentences with their moments and depths, and the marks in the timeline of each block.
    """
    if showing.look.traced is None:
        return {}
    paths = []
    for pane, look in enumerate(looks):
        theme = Theme.named("light", 1.0, words=look.words).with_words_of(showing.sessions[pane].scenario)
        explanation = look.explanation
        sentences = explanation.sentences if explanation else ()
        paths.append(
            {
                "title": escape_controls(explanation.title if explanation else ""),
                "sentences": [
                    [escape_controls(theme.translate(s.text)), s.moment, s.depth, s.fault] for s in sentences
                ],
                "marks": _marks_of(showing.sessions[pane], explanation) if explanation else {},
            }
        )
    return {"paths": paths}


def look_of() -> dict[str, Any]:
    """Return colours, fonts and the looks of requests in the light and the dark theme."""
    themes = [Theme.named(name) for name in ("light", "dark")]
    names = LIGHT.__struct_fields__
    return {
        "palette": {name: [getattr(LIGHT, name), getattr(DARK, name)] for name in names},
        "sans": list(SANS),
        "mono": list(MONO),
        "kinds": [_kind(look, themes) for look in LOOKS],
    }


def _kind(look: str, themes: list[Theme]) -> dict[str, Any]:
    """Return the name of a look, its colour, and the light and dark colours of its pattern."""
    if not look or look == WAITING:
        return {"name": look, "colour": [t.colour(look or "panel").name() for t in themes]}
    colours = [theme.colour(look) for theme in themes]
    return {
        "name": look,
        "colour": [colour.name() for colour in colours],
        "light": [mixed(colour, "#FFFFFF", 0.62).name() for colour in colours],
        "dark": [mixed(colour, "#000000", 0.42).name() for colour in colours],
    }

"""What is on screen as lines of a step: few of them, and they show the same again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lectures import NAIVE, SMALL, TILED, lecture_of, session_of
from tilescope.app.lectures.model.changes import ProgramLaunch, parse_change
from tilescope.app.lectures.model.edit.from_bookmark import change_lines, current_position
from tilescope.app.lectures.model.edit.position import final_position
from tilescope.app.lectures.model.edit.serialise import same_panes
from tilescope.app.lectures.model.edit.source import EditError
from tilescope.app.lectures.model.edit.text import new_lecture, step_text
from tilescope.app.lectures.model.scenes import BASE, moment_of, scenes_of
from tilescope.app.model.bookmark import Bookmark, Setup
from tilescope.app.model.first_bookmark import setups_of
from tilescope.app.model.pane_moments import pane_moments
from tilescope.app.model.phase_steps import first_load, follow_running_block, phase_span
from tilescope.app.model.session import Selection
from tilescope.app.model.setup_text import spec_of
from tilescope.tracer.model.launch import Schedule

HERE = Path()
EMPTY = lecture_of(new_lecture("Lecture"))
ONE = setups_of([TILED])
VECTOR = "vector-double:count=96,threads=32"


def screen(setups=ONE, **fields):
    """Return a bookmark of these setups in the look that lectures begin with."""
    return replace(BASE, panes=tuple(setups), **{"focus": len(setups) - 1, "moment": 1.0, **fields})


def sessions_of(mark):
    """Return the sessions of a bookmark's panes."""
    return [session_of(setup) for setup in mark.panes]


def lines(mark, lecture=EMPTY, after=-1):
    """Return the lines of a new step for a screen."""
    return change_lines(lecture, after, mark, sessions_of(mark))


def shown_again(mark, lecture, after, lines):
    """Return the scene of a step with these lines, and where it stands."""
    text = "# T\n\n" + step_text("New", lines, HERE)
    step = lecture_of(text).steps[0]
    assert lecture_of(text).problems == ()
    lecture = replace(lecture, steps=(*lecture.steps[: after + 1], step))
    scenes = scenes_of(lecture)
    return scenes[-1], moment_of(lecture, scenes, len(scenes) - 1, sessions_of(mark))


def test_the_first_step_names_its_sessions_and_its_anchor():
    end = session_of(ONE[0]).end
    assert lines(screen(moment=float(end))) == [f"show: {TILED}", "at: end"]
    assert lines(screen(moment=0.0)) == [f"show: {TILED}", "at: start"]
    assert lines(screen(moment=float(first_load(session_of(ONE[0]))))) == [f"show: {TILED}"]


def test_a_usual_parameter_is_not_written():
    assert spec_of(Setup("matmul-tiled")) == "matmul-tiled"
    assert spec_of(Setup("matmul-tiled", {"m": 16, "tile": "8"})).startswith("matmul-tiled:m=16")
    odd = Setup("vector-double", {"count": 96}, Schedule("random", 3), "all", (0, 2), keep="all")
    text = "vector-double:count=96,schedule=random,seed=3,resident=all,blocks=0+2,keep=all"
    assert spec_of(odd) == text
    assert same_panes(setups_of([text]), (odd,))


def test_threads_of_panes_with_different_shapes_are_written():
    mark = screen(setups_of([TILED, VECTOR]), moment=0.0, selections=(Selection(0, 5), Selection(0, 30)))
    assert lines(mark)[-1] == "thread: left 5, right 30"


def test_an_unchanged_screen_writes_no_lines():
    mark = screen(setups_of([NAIVE, TILED]), moment=0.0, spotlight=("A[0, :]",))
    assert lines(mark, lecture_of(), 0) == ["spotlight: A[0, :]"]
    assert lines(replace(mark, spotlight=()), lecture_of(), 0) == []


def test_the_next_phase_is_called_so():
    session = session_of(ONE[0])
    lecture = lecture_of(f"# T\n\n## A\n\n```tilescope\nshow: {TILED}\nat: phase 0\n```\n")
    first, last = phase_span(session, 0, 1)
    assert lines(screen(moment=first + 1.0), lecture, 0) == ["at: next phase"]
    assert lines(screen(moment=float(phase_span(session, 0, 0)[1])), lecture, 0) == ["at: end of this phase"]
    assert lines(screen(moment=float(last)), lecture, 0) == ["at: end of phase 1"]
    assert lines(screen(moment=first + 2.0), lecture, 0) == [f"at: moment {first + 2}"]
    assert lines(screen(moment=first + 2.6), lecture, 0) == [f"at: moment {first + 2}"]


def test_different_looks_are_written():
    mark = screen(
        moment=0.0,
        tab="warp",
        side="shown",
        colour_by="reads",
        zoom=("A", "tile_a"),
        speed=30.0,
        words="cuda",
    )
    assert lines(mark) == [
        f"show: {TILED}", "at: start", "panel: warp", "colour: reads", "zoom: A, tile_a", "speed: 30", "words: cuda",
    ]  # fmt: skip
    plain = "colour: auto\nzoom: all\npanel: none"
    lecture = lecture_of("# T\n\n" + step_text("A", lines(mark), HERE))
    back = lines(screen(moment=0.0, speed=30.0), lecture, 0)
    assert set(back) == {*plain.splitlines(), "words: own"}
    assert "speed: auto" in lines(screen(moment=0.0), lecture, 0)
    assert lines(screen(moment=0.0, colour_by="wasted"))[-1] == "colour: waste"


def test_a_trace_in_the_folder_of_the_lecture_is_named(tmp_path):
    lecture = replace(EMPTY, path=tmp_path / "mine.md")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "race.npz").touch()
    mark = Bookmark((Setup(file=str(tmp_path / "sub" / "race.npz")),), side="hidden")
    lines = change_lines(lecture, -1, mark, ())
    assert lines == ["show: sub/race.npz"]
    assert same_panes(parse_change({1: lines[0]}, tmp_path)[0].show, mark.panes)
    with pytest.raises(EditError, match="is not in the lecture's folder"):
        change_lines(replace(lecture, path=tmp_path / "sub" / "sub" / "mine.md"), -1, mark, ())
    (tmp_path / "race.py").touch()
    program = change_lines(
        replace(lecture_of(), path=tmp_path / "mine.md"), 0, mark, (), (ProgramLaunch("race.py", 2),)
    )
    assert program[0] == "show: race.py:launch=2"
    spaced = Setup(file=str(tmp_path / "a race.npz"))
    with pytest.raises(EditError, match="contains a space"):
        change_lines(lecture, -1, Bookmark((spaced,)), ())


def test_skipped_lines_are_named_and_an_edited_text_must_be_in_the_folder_of_the_lecture(tmp_path):
    lecture = replace(EMPTY, path=tmp_path / "mine.md")
    mark = Bookmark(setups_of(["matmul-tiled:tile=8,without=barrier2"]), side="hidden")
    lines = change_lines(lecture, -1, mark, ())
    assert lines == ["show: matmul-tiled:tile=8,without=barrier2"]
    assert same_panes(parse_change({1: lines[0]}, tmp_path)[0].show, mark.panes)
    edited = Bookmark((Setup("matmul-tiled", source="import numba\n"),), side="hidden")
    with pytest.raises(EditError, match="save it in the lecture's folder first"):
        change_lines(lecture, -1, edited, ())


@st.composite
def screens(draw):
    """Return a screen of one or two panes at any moment, with any thread looked at."""
    setups = setups_of(draw(st.sampled_from([[TILED], [NAIVE], [NAIVE, TILED], [VECTOR], [TILED, VECTOR]])))
    sessions = [session_of(setup) for setup in setups]
    focus = draw(st.integers(0, len(setups) - 1))
    link = draw(st.sampled_from(["moment", "progress"]))
    moment = draw(
        st.integers(0, sessions[focus].end)
    )  # where it has ended, no place of its own says how far another is
    mark = screen(setups, focus=focus, link=link, moment=float(moment))
    moment = current_position(mark, sessions).moment
    chosen = Selection(draw(st.integers(0, 3)), draw(st.integers(0, 15)))
    there = pane_moments(moment, [session.end for session in sessions], link)
    selections = tuple(
        follow_running_block(session, chosen, moment) for session, moment in zip(sessions, there, strict=True)
    )
    return replace(
        mark,
        moment=moment,
        selections=selections,
        side=draw(st.sampled_from(["shown", "hidden"])),
        colour_by=draw(st.sampled_from(["auto", "reads", "wasted"])),
        zoom=draw(st.sampled_from([(), ("a", "b")])),
        spotlight=draw(st.sampled_from([(), ("warp 0", "A[0, :]")])),
    )


@settings(max_examples=30, print_blob=True)
@given(mark=screens(), after=st.integers(-1, 2))
def test_the_lines_show_the_screen_again(mark, after):
    sessions = sessions_of(mark)
    lines = change_lines(lecture_of(), after, mark, sessions)
    scene, moment = shown_again(mark, lecture_of(), after, lines)
    look = replace(scene.look, panes=mark.panes)
    assert same_panes(scene.panes, mark.panes)
    hidden = {"tab": "source"} if mark.side == "hidden" else {}
    assert replace(look, **hidden) == replace(mark, selections=(), moment=None, **hidden)
    wanted, stand = current_position(mark, sessions), final_position(moment)
    assert stand.moment == pytest.approx(wanted.moment)
    assert stand.selections[scene.look.focus] == wanted.selections[scene.look.focus]


def test_the_first_lines_of_the_example_are_those_of_its_screen():
    mark = screen(setups_of([NAIVE, TILED]), moment=0.0, spotlight=("A[0, :]", "C[0, 0]"))
    assert "\n".join(lines(mark)) in SMALL

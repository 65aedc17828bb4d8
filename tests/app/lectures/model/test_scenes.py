"""What each step shows: changes add up, and places in time are found in the traces."""

from __future__ import annotations

import pytest

from lectures import NAIVE, TILED, lecture_of, session_of
from tilescope.app.lectures.model.scenes import moment_of, scenes_of
from tilescope.app.lectures.model.time_anchors import TimeAnchorError, anchor_text, find_anchor, parse_anchor
from tilescope.app.model.phase_steps import block_span, phase_at, phase_span
from tilescope.app.model.session import Selection


def lecture(*blocks):
    """Return a lecture of a step for each block of lines."""
    steps = [f"## Step {i}\n\n```tilescope\n{block}\n```\n" for i, block in enumerate(blocks)]
    return lecture_of("\n".join(["# Test", *steps]))


def stood(*blocks):
    """Return the moment of each step of such a lecture."""
    parsed = lecture(*blocks)
    assert parsed.problems == ()
    scenes = scenes_of(parsed)
    return [
        moment_of(parsed, scenes, i, [session_of(pane) for pane in scene.panes])
        for i, scene in enumerate(scenes)
    ]


def test_changes_add_up_until_something_else_is_shown():
    scenes = scenes_of(
        lecture(
            f"show: {TILED}\ncolour: reads\npanel: source\nspotlight: A\nzoom: A, B\nlink: moment",
            "panel: none",
            "speed: 30",
            f"show: {NAIVE} {TILED}",
        )
    )
    first, second, third, last = (scene.look for scene in scenes)
    assert (first.side, first.tab, first.colour_by, first.zoom) == ("shown", "source", "reads", ("A", "B"))
    assert (first.spotlight, second.spotlight) == (("A",), ())
    assert (second.side, third.side, third.speed, third.zoom) == ("hidden", "hidden", 30, ("A", "B"))
    assert (last.zoom, last.colour_by, last.link, last.focus) == ((), "reads", "moment", 1)
    assert {scene.look.layout for scene in scenes} == {"lecture"}


def test_a_step_keeps_the_anchor_of_the_one_before_unless_it_has_its_own():
    first, second, third, fourth = stood(
        f"show: {TILED}\nat: moment 3", "colour: reads", "+2 moments", "-1 moment"
    )
    assert (first.stand, second.stand, third.stand, fourth.stand) == (3, 3, 5, 4)


def test_a_played_step_stands_where_it_ends():
    begun, after = stood(f"show: {TILED}\nat: start\nplay: to end of this phase over 2 s", "+1 moment")
    session = session_of(lecture(f"show: {TILED}").steps[0].change.show[0])
    assert (begun.begin, begun.stand) == (0, phase_span(session, 0, 0)[1])
    assert after.begin == after.stand == begun.stand + 1


def test_blocks_threads_and_elements_are_looked_at():
    at_block, at_element, at_thread = stood(f"show: {TILED}\nblock: 1", "element: C[7, 0]", "thread: 2")
    assert at_block.selections == (Selection(1, 0),)
    assert at_element.selections == (
        Selection(2, 12),
    )  # the block of rows 4 to 7, columns 0 to 3; its last row
    assert at_thread.selections[0].thread == 2


def test_panes_of_one_shape_are_looked_at_alike():
    (here,) = stood(f"show: {NAIVE} {TILED}\nthread: 5\nat: end of phase 0\nfocus: left")
    assert [selection.thread for selection in here.selections] == [5, 5]


def test_panes_of_different_shapes_are_looked_at_by_name():
    both, named, own = stood(
        f"show: {TILED} vector-double:count=96,threads=32\nthread: left 5, right 30\nat: start",
        "thread: left 7\nfocus: right",
        "thread: 8",
    )
    assert [selection.thread for selection in both.selections] == [5, 30]
    assert [selection.thread for selection in named.selections] == [7, 30]
    assert [selection.thread for selection in own.selections] == [7, 8]


def test_the_same_step_stands_alike_from_wherever_one_comes():
    blocks = [
        f"show: {TILED}",
        "next phase",
        "next block",
        "+3 moments",
        "end of this phase",
        "element: C[0, 0]",
    ]
    parsed = lecture(*blocks)
    scenes = scenes_of(parsed)
    sessions = [session_of(pane) for pane in scenes[0].panes]
    forwards = [moment_of(parsed, scenes, i, sessions) for i in range(len(blocks))]
    assert [moment_of(parsed, scenes, i, sessions) for i in reversed(range(len(blocks)))] == forwards[::-1]


@pytest.mark.parametrize(
    "text",
    [
        "start", "end", "first load", "moment 12", "phase 2", "middle of phase 0", "end of phase 1", "next phase",
        "end of this phase", "previous phase", "next block", "previous block", "+3 moments", "-1 moment",
        'line "acc += "', "finding race", "finding",
    ],
)  # fmt: skip
def test_a_place_is_written_as_it_is_read(text):
    assert anchor_text(parse_anchor(text)) == text


def test_anchors_are_resolved_in_the_trace():
    session = session_of(lecture(f"show: {TILED}").steps[0].change.show[0])

    def resolve(text, moment=0.0, block=0):
        return find_anchor(parse_anchor(text), session, Selection(block, 0), moment)

    first, last = phase_span(session, 0, 1)
    assert resolve("phase 1")[0] == first + 1
    assert resolve("end of phase 1")[0] == last
    assert resolve("end of this phase", first + 1)[0] == last
    assert resolve("next phase", 1)[0] == first + 1
    assert phase_at(session, 0, resolve("middle of phase 1")[0]) == 1
    assert resolve("next block") == (block_span(session, 1)[0] + 1, Selection(1, 0))
    moment, _ = resolve('line "c[row, col] = "', block=1)
    rows = [r for r in session.memory.request_rows(moment) if session.requests.block[r] == 1]
    lines = session.trace.sources[session.trace.sites[0].file].splitlines()
    assert all(
        "c[row, col] = " in lines[session.trace.sites[session.requests.site[r]].line - 1] for r in rows
    )
    with pytest.raises(TimeAnchorError, match="this is the end"):
        resolve("next phase", session.end)

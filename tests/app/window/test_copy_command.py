"""Copy as command: the line on the clipboard draws, in another process, the picture that is on screen."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QGuiApplication, QImage

from patience import PATIENCE
from tilescope.app.cli.commands import parser_of, subcommand_of
from tilescope.app.cli.pictures.picture_options import bookmark_of, room_of
from tilescope.app.lectures.model.library import lecture_file
from tilescope.app.model.bookmark import Bookmark, Room, Setup
from tilescope.app.model.kernel_source import TextEdit, apply_edits, edits_between
from tilescope.app.model.session import Selection
from tilescope.app.widgets.widget_picture import picture_of
from tilescope.app.window.copy_command import CopyError, Screen, command_of
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import kernel_source
from tilescope.tracer.storage.trace_file import save
from windows import PAIR, open_window, press, settle, wait_until

TILED = kernel_source(find("matmul-tiled").kernel)[1]
SCREEN = Screen(1280, 800, 1.0, "dark")


def run(line, folder):
    """Run a copied line and return its picture."""
    words = shlex.split(line)
    assert words[0] == "tilescope"
    ended = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ended.returncode == 0, ended.stderr
    return QImage(str(Path(folder) / "tilescope.png"))


def copied(window):
    press(window, "Ctrl+Shift+K")
    return QGuiApplication.clipboard().text()


def notice_text(window):
    return window.notice.news.sentence.text() + window.notice.sentence.text()


def shown(window):
    """Return the window's picture as `snapshot` draws it: without the message and the hint for beginners."""
    window.notice.clear()
    window.central.transport.position.hint = ""
    window.setFocus()
    window.draw()
    return picture_of(window, 1).convertToFormat(QImage.Format.Format_RGB32)


def same_picture(first, other):
    first, other = (image.convertToFormat(QImage.Format.Format_RGB32) for image in (first, other))
    assert first.size() == other.size()
    assert bytes(first.constBits()) == bytes(other.constBits()), "the pictures differ"


def test_the_line_draws_what_is_on_screen(tmp_path):
    with open_window() as window:
        window.show_bookmark(
            msgspec.structs.replace(
                window.bookmark(),
                theme="dark",
                text_scale=1.1,
                tab="warp",
                side="shown",
                moment=11.375,
                focus=0,
                link="moment",
                colour_by="reads",
                selections=(Selection(1, 5), Selection(1, 40)),
                words="work-item",
                spotlight=("A", "C[2, 3]"),
                loop=True,
                speed=4.0,
            )
        )
        settle(window)
        window.central.arrangement.set_splitter_sizes((420, 380, 440), (400, 330))
        window.central.timelines[0].set_x_range(2.0, 20.0)
        window.central.timelines[1].set_x_range(3.0, 31.0)
        line = copied(window)
        same_picture(run(line, tmp_path), shown(window))


def test_an_edited_kernel_and_a_line_taken_out_are_in_the_line(tmp_path):
    text = TILED.replace("total = DTYPE(0)", "total = DTYPE(1) if 'a' != \"b\" else DTYPE(2)")
    assert text != TILED
    setup = Setup("matmul-tiled", {"m": 16, "k": 16, "n": 16, "tile": 8}, source=text)
    with open_window(PAIR[1:]) as window:
        window.stage.trust_text(find("matmul-tiled").kernel, text)
        window.show_bookmark(msgspec.structs.replace(window.bookmark(), panes=(setup,)))
        settle(window)
        line = copied(window)
        assert len(line) < 600  # a line of the kernel, not all of it
        same_picture(run(line, tmp_path), shown(window))


def test_a_trace_file_goes_by_its_name_and_runs_anew_where_it_did(tmp_path):
    with open_window(PAIR[1:]) as window:
        save(window.stage.sessions[0].trace, tmp_path / "my trace.npz")
        setup = Setup(
            file=str(tmp_path / "my trace.npz"), rerun=True, schedule=Schedule("random", 7), resident=1
        )
        window.show_bookmark(
            msgspec.structs.replace(window.bookmark(), panes=(setup,), moment=40.0, selections=())
        )
        settle(window)
        line = copied(window)
        assert str(tmp_path) not in line and "my trace.npz:schedule=random,seed=7" in line
        assert "folder of my trace.npz" in notice_text(window)
        same_picture(run(line, tmp_path), shown(window))


@pytest.mark.parametrize("state", ["open", "answered", "no question"])
def test_a_step_of_a_lecture_comes_with_its_caption_and_question(tmp_path, state):
    number = 1 if state == "no question" else 2
    with open_window() as window:
        player = window.lectures.player
        window.lectures.has_clock = False
        window.lectures.open(lecture_file("tiling"), number)
        wait_until(lambda: player.number == number and player.awaited is None and not player.is_playing)
        settle(window)
        if state == "answered":
            player.choose(1)
            player.reveal()
        line = copied(window)
        assert f"--step tiling:{number + 1}" in line
        same_picture(run(line, tmp_path), shown(window))


def test_an_exercise_is_reported_to_have_no_command():
    with open_window() as window:
        window.exercises.work.is_here = lambda: True
        before = QGuiApplication.clipboard().text()
        assert copied(window) == before
        assert "exercise" in notice_text(window)


BOOKMARKS = st.builds(
    Bookmark,
    panes=st.sampled_from([("matmul-tiled",), ("matmul-naive-col-on-x", "matmul-tiled")]).map(
        lambda names: tuple(Setup(name, {"m": 32, "k": 64, "n": 64, "tile": 16}) for name in names)
    ),
    moment=st.one_of(st.none(), st.floats(0, 1e6)),
    link=st.sampled_from(["moment", "progress"]),
    speed=st.sampled_from([None, 1.0, 60.0, 1000.0]),
    loop=st.booleans(),
    tab=st.sampled_from(["source", "thread", "warp", "findings", "explain"]),
    side=st.sampled_from(["shown", "hidden"]),
    colour_by=st.sampled_from(["auto", "value", "reads", "wasted", "conflicts", "races"]),
    picture=st.sampled_from(["auto", "memory", "histogram"]),
    theme=st.just("dark"),
    text_scale=st.sampled_from([0.8, 1.0, 1.6]),
    reduced_motion=st.booleans(),
    words=st.sampled_from(["own", "cuda", "work-item"]),
    layout=st.sampled_from(["ordinary", "lecture"]),
    zoom=st.sampled_from([(), ("A",), ("A", "tile_a")]),
    spotlight=st.sampled_from([(), ("C[2, 3]", "warp 1"), ('line "total +="',)]),
    chart=st.sampled_from(["", "speedup"]),
)
ROOMS = st.builds(
    Room,
    columns=st.sampled_from([(), (500, 500, 280)]),
    rows=st.sampled_from([(), (400, 300)]),
    ranges=st.sampled_from([(), (None, (1.5, 20.25)), ((1 / 3, 7.0), None)]),
    bar=st.sampled_from([None, True, False]),
)


@given(BOOKMARKS, ROOMS, st.data())
def test_the_line_contains_all_of_a_bookmark(mark, room, data):
    count = len(mark.panes)
    places = st.tuples(*[st.builds(Selection, st.integers(0, 99), st.integers(0, 999))] * count)
    panes = tuple(
        msgspec.structs.replace(
            s, values={k: v for k, v in s.values.items() if k != "tile" or "tiled" in s.scenario}
        )
        for s in mark.panes
    )
    mark = msgspec.structs.replace(
        mark, panes=panes, focus=data.draw(st.integers(0, count - 1)), selections=data.draw(places),
        shared=count == 1 or data.draw(st.booleans()),
    )  # fmt: skip
    line = command_of(mark, room, SCREEN, lambda path: "")
    command, rest = subcommand_of(shlex.split(line)[1:])
    chosen = parser_of(command).parse_args(rest)
    read = bookmark_of(chosen)
    shared = mark.shared if count > 1 else read.shared
    selections = read.selections or (Selection(),) * count
    hidden = {"tab": mark.tab} if mark.side == "hidden" else {}  # which tab is hidden does not show
    bare = [msgspec.structs.replace(pane, values=dict(pane.values)) for pane in read.panes]
    assert [p.scenario for p in bare] == [p.scenario for p in mark.panes]
    read = msgspec.structs.replace(read, panes=mark.panes, selections=selections, **hidden)
    assert read == msgspec.structs.replace(mark, shared=shared)
    assert room_of(chosen) == (room if any(room.ranges) else Room(room.columns, room.rows, (), room.bar))


LINES = st.lists(st.sampled_from(["", "a", "    b = 'x'", '"y" \\', "-1", "=", "ü"]), max_size=8)


@given(LINES.filter(bool), LINES.filter(bool))
def test_edits_make_one_text_the_other(before, after):
    old, new = "\n".join(before) + "\n", "\n".join(after) + "\n"
    assert apply_edits(old, edits_between(old, new)) == new


@pytest.mark.parametrize("where", ["0", "4", "2-1", "3-9", "4+", "x", "", "-1"])
def test_lines_that_are_not_there_are_refused(where):
    with pytest.raises(ValueError, match=r"(?i)lines"):
        apply_edits("a\nb\nc\n", [TextEdit(where, "d")])


def test_a_text_that_was_changed_too_much_is_refused():
    source = "\n".join(f"x{i} = '{i}'" for i in range(3000))
    with pytest.raises(CopyError, match="too many changes"):
        command_of(Bookmark((Setup("matmul-tiled", source=source),)), Room(), SCREEN, lambda path: "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--focus", "right"], "two panes"),
        (["--select", "1:2,3:4"], "only one"),
        (["--select", "1"], "BLOCK:THREAD"),
        (["--playhead", "-1"], "moment"),
        (["--playhead", "nan"], "moment"),
        (["--ranges", "9:3"], "before the last"),
        (["--columns", "a:b"], "lengths"),
        (["--edit", "right:3=x"], "no pane"),
        (["--edit", "left:9999=x"], "no lines"),
        (["--step", "tiling:99"], "LECTURE:N"),
        (["--step", "no-such:1"], "no lecture"),
        (["--step", "tiling:9"], "Step 9 shows 2 kernels; name as many scenarios, not 1"),
        (["--spotlight", "?!"], "stand out"),
        (["--chart", "nothing"], "chart"),
        (["--colour", "red"], "not known"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(words, sentence, capsys, tmp_path):
    from tilescope.app.cli.main import main

    assert main(["snapshot", PAIR[1], *words, "-o", str(tmp_path / "a.png")]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())

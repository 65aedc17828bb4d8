"""Bookmarks say all that the window shows; settings survive damage; the history goes back and forth."""

import os

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.model import settings
from tilescope.app.model.bookmark import Bookmark, History, Setup, decode, encode
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.model.session import Selection
from tilescope.app.model.settings import Settings
from tilescope.app.state.actions import ColourBy, Focus, ShowTab
from tilescope.tracer.model.launch import Schedule
from windows import PAIR, act, open_window, settle

MARK = Bookmark(
    panes=(
        Setup("matmul-tiled", {"m": 16, "tile": 8}, Schedule("random", 3), "all", (0, 2)),
        Setup(file="x.npz"),
    ),
    selections=(Selection(2, 5),),
    moment=7.25,
    focus=1,
    link="moment",
    theme="dark",
    text_scale=1.6,
    colour_by="reads",
)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SETUPS = st.builds(
    Setup,
    values=st.dictionaries(st.text(), st.integers(-(2**60), 2**60) | st.text()),
    schedule=st.builds(Schedule, seed=st.integers(0, 2**31)),
    resident=st.none() | st.just("all") | st.integers(1, 2**31),
)
MARKS = st.builds(
    Bookmark,
    panes=st.lists(SETUPS, max_size=2).map(tuple),
    moment=st.none() | NUMBERS,
    focus=st.integers(0, 1),
    speed=st.none() | NUMBERS,
    text_scale=NUMBERS,
)


@given(MARKS)
def test_a_bookmark_survives_being_written(mark):
    assert decode(encode(mark)) == mark


def test_a_bookmark_is_json_that_keeps_everything():
    assert decode(encode(MARK)) == MARK


@pytest.mark.parametrize("text", ["", "{}", '{"panes": 3}', '{"panes": [], "theme": "pink"}', "[1"])
def test_anything_else_is_no_bookmark(text):
    with pytest.raises(msgspec.DecodeError):
        decode(text)


def test_history_goes_back_and_forward_and_forgets_what_lay_ahead():
    a, b, c, d = (Bookmark((Setup(name),)) for name in "abcd")
    history = History()
    assert history.back(a) is None
    history.leave(a)
    history.leave(b)
    assert history.back(c) == b
    assert history.back(b) == a
    assert history.forward(a) == b
    history.leave(b)
    assert history.forward(d) is None
    assert history.back(d) == b


def test_settings_are_restored(tmp_path):
    file = tmp_path / "folder" / "window.json"
    kept = Settings(MARK, b"\x00\xff", (b"a", b"b"), ("/a.npz",))
    assert settings.save(file, kept) == ""
    assert settings.load(file) == (kept, "")
    assert [path.name for path in file.parent.iterdir()] == ["window.json"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b'{"bookmark": 5}', b'{"recent": [1]}'])
def test_damaged_settings_are_left_aside_with_one_sentence(tmp_path, content):
    file = tmp_path / "window.json"
    file.write_bytes(content)
    fresh, complaint = settings.load(file)
    assert fresh == Settings()
    assert str(file) in complaint
    assert complaint.count("\n") == 0


def test_settings_that_cannot_be_written_are_reported_and_nothing_is_left_behind(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert str(blocked) in settings.save(blocked / "window.json", Settings())
    folder = tmp_path / "window.json"
    folder.mkdir()
    assert str(folder) in settings.save(folder, Settings())
    assert {path.name for path in tmp_path.iterdir()} == {"file", "window.json"}


def test_recent_traces_are_few_and_each_stands_there_once():
    kept = Settings()
    for name in [*"abcdefghij", "d"]:
        kept = settings.with_recent(kept, name)
    assert kept.recent == ("d", "j", "i", "h", "g", "f", "e", "c")


def test_what_is_asked_for_comes_in_the_look_of_the_last_time():
    mark = first_bookmark(PAIR, MARK)
    assert [setup.scenario for setup in mark.panes] == ["matmul-naive-col-on-x", "matmul-tiled"]
    assert (mark.theme, mark.text_scale, mark.link, mark.moment) == ("dark", 1.6, "moment", None)
    assert first_bookmark((), MARK) == MARK
    assert len(first_bookmark((), None).panes) == 2


def test_parameters_that_differ_are_changed_one_by_one():
    assert first_bookmark(("matmul-tiled:m=16", "matmul-naive-col-on-x:m=16"), None).shared
    assert not first_bookmark(("matmul-tiled:tile=8", "matmul-tiled:tile=16"), None).shared
    assert not first_bookmark(("matmul-tiled", "matmul-tiled:schedule=sequential"), None).shared


def test_a_window_shows_a_bookmark_of_another_window_alike():
    with open_window() as main_window:
        main_window.look.show("dark", 1.2, True)
        main_window.stage.set_link("moment")
        main_window.playhead.set_speed(30)
        act(main_window, ShowTab("thread"))
        act(main_window, ColourBy("reads"))
        act(main_window, Focus(0))
        main_window.stage.step_block(1)
        main_window.stage.step(1)
        mark = main_window.bookmark()
        moments, selections = main_window.stage.moments(), main_window.stage.selections
    with open_window(mark=decode(encode(mark))) as other:
        assert other.bookmark() == mark
        assert other.stage.moments() == moments
        assert other.stage.selections == selections
        assert other.theme.name == "dark"
        assert {pane.memory.colour_by for pane in other.central.panes} == {"reads"}


def test_a_closed_window_comes_back_as_it_was(tmp_path):
    file = tmp_path / "window.json"
    with open_window(settings=file) as window:
        window.stage.step_phase(1)
        mark = window.bookmark()
    kept, complaint = settings.load(file)
    assert complaint == ""
    assert kept.bookmark == mark
    with open_window(settings=file, mark=kept.bookmark) as window:
        assert window.bookmark() == mark


def test_back_and_forward_return_to_what_was_run():
    with open_window() as window:
        window.stage.step_block(1)
        before = window.bookmark()
        changed = tuple(
            msgspec.structs.replace(setup, values=setup.values | {"k": 8}) for setup in before.panes
        )
        window.change_setups(changed)
        settle(window)
        after = window.bookmark()
        assert window.stage.sessions[1].trace.buffers[0].shape == (16, 8)
        window.navigation.travel(-1)
        settle(window)
        assert window.bookmark() == before
        assert window.stage.sessions[1].trace.buffers[0].shape == (16, 16)
        window.navigation.travel(1)
        settle(window)
        assert window.bookmark() == after


def test_a_damaged_bookmark_is_reported_and_the_window_lives():
    mark = Bookmark((Setup("no-such-scenario"),), text_scale=1e9, speed=-5, moment=1e30, focus=9)
    with open_window(mark=mark, wait=False) as window:
        assert "no-such-scenario" in window.notice.sentence.text()
        assert window.notice.isVisible()


def test_a_file_whose_name_is_no_text_is_not_remembered_and_all_else_is(tmp_path):
    odd = os.fsdecode(b"\xff.npz")
    kept = Settings(recent=(odd, "fine.npz"), geometry=b"here")
    assert settings.save(tmp_path / "window.json", kept) == ""
    assert settings.load(tmp_path / "window.json") == (Settings(recent=("fine.npz",), geometry=b"here"), "")
